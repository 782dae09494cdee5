/** A TCP proxy, which can drop its connections without closing them, like a failed network. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** @param targets ports to which new connections lead in turn; the caller can change them */
export async function openTcpProxy(targets: readonly number[]) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    const upstream = connect(targets[connections++ % targets.length] ?? 0, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    upstream.pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: address !== null && typeof address !== "string" ? address.port : 0,
    /** The number of connections so far. */
    opened: () => connections,
    /** Stops forwarding on all open connections without closing them; later connections work. */
    cut: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
