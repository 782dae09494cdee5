/** A wire between client and server that can be cut without either end being told, as a network does it. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy extends Disposable {
  readonly port: number;
  /** Lets the connections that are open lead nowhere from now on; later ones work. */
  cut(): void;
}

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far);
    far.pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: address !== null && typeof address !== "string" ? address.port : 0,
    cut: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
