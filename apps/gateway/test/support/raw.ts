/** Sends bytes over a TCP connection, for requests that no HTTP client sends. */
import { connect } from "node:net";

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** Sends `bytes` and returns everything received until the server closes the connection. */
export function exchangeBytes({ hostname, port }: Address, bytes: string | Uint8Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const received: Uint8Array[] = [];
  const socket = connect({ host: hostname, port }, () => socket.write(bytes));
  socket.on("data", (chunk: Uint8Array) => received.push(chunk));
  socket.on("end", () => socket.end());
  socket.on("close", () => resolve(Buffer.concat(received).toString("utf8")));
  socket.on("error", reject);
  return promise;
}
