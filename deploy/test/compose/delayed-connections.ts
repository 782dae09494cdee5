/** A TCP proxy in front of a server, whose round trips take longer, as between two machines. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

interface DelayOptions {
  /** `host:port` of the server. */
  readonly target: string;
  /** Delay of all bytes, and of the end of a connection, in each direction. */
  readonly delayMs: number;
  /** Called when the server is the first to close a connection on which a POST was sent, before the client learns it. */
  readonly onServerEnd?: () => void;
}

/** @returns the `host:port` of the proxy */
export async function openDelay({ target, delayMs, onServerEnd }: DelayOptions) {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    from.on("data", (bytes) => setTimeout(() => to.write(bytes), delayMs));
    from.on("end", () => setTimeout(() => to.end(), delayMs));
    from.on("error", () => setTimeout(() => to.destroy(), delayMs));
    from.on("close", () => sockets.delete(from));
    sockets.add(from);
  };
  const { hostname, port } = new URL(`http://${target}`);
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    client.on("data", (bytes) => {
      if (bytes.includes("POST ")) upstream.once("end", () => client.readableEnded || onServerEnd?.());
    });
    pass(client, upstream);
    pass(upstream, client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    address: `127.0.0.1:${address !== null && typeof address !== "string" ? address.port : 0}`,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
