/** Why Redis cannot be used. Bun's client hides the reason of a failed connection, so a second connection asks for it. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { printable } from "@latchkey/cli";

const DIAGNOSIS_TIMEOUT_MS = 2000;
const DEFAULT_PORT = 6379;
const MAX_REASON_LENGTH = 200;

/** Error codes of Redis that only a change of its configuration or of `REDIS_URL` can resolve. */
const REJECTION =
  /^(?:NOPERM|NOAUTH|WRONGPASS|MOVED|ASK|CROSSSLOT|CLUSTERDOWN|ERR(?! max number of clients))\b/;

/**
 * Returns the message of Redis, which begins with its error code (`NOPERM …`), or the code of a connection error (`ECONNREFUSED`),
 * and whether Redis rejected the user, a command or a key: a retry does not help.
 * @param error of the client, when it connects to `url` or runs a command
 */
export async function describeRedisFailure(error: unknown, url: string) {
  const { code = "", message = "" }: { code?: unknown; message?: unknown } = Object(error);
  const text =
    code === "ERR_REDIS_CONNECTION_CLOSED" ? await diagnose(new URL(url)).catch(String) : String(message);
  const reason = printable(text).slice(0, MAX_REASON_LENGTH);
  return { reason, isRejection: REJECTION.test(reason) };
}

const command = (...words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;

/** Logs in and sends PING. Returns the first error of Redis or of the connection. */
async function diagnose({ protocol, hostname, port, username, password }: URL): Promise<string> {
  const target = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || DEFAULT_PORT) };
  const [user, secret] = [username, password].map(decodeURIComponent);
  const login = secret ? command("AUTH", ...(user ? [user] : []), secret) : "";
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket: Socket = protocol === "rediss:" ? connectTls(target) : connect(target);
  let received = "";
  // Bun's `setTimeout` of a TLS socket does not count during the handshake.
  const timer = setTimeout(() => resolve("ETIMEDOUT"), DIAGNOSIS_TIMEOUT_MS);
  socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code || error.message));
  socket.on("close", () => resolve("the connection was closed"));
  socket.on("data", (bytes) => {
    received += bytes.toString();
    const [, error] = /^-([^\r]*)\r\n/m.exec(received) ?? [];
    if (error !== undefined) resolve(error);
    else if (received.includes("PONG")) resolve("the connection was closed");
  });
  socket.write(login + command("PING"));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
