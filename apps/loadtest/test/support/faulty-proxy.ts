/** A TCP proxy in front of a service. From the first login of the load on, its connections fail in one way. */
import { connect, createServer, type Socket } from "node:net";

export const FAULTS = ["refused", "reset", "closed", "timed out"] as const;

export async function startFaultyProxy(serviceUrl: string, fault: (typeof FAULTS)[number]) {
  const { hostname, port } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  let logins = 0;
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => {});
    const upstream = connect(Number(port), hostname);
    upstream.on("error", () => client.destroy());
    upstream.on("data", (chunk) => client.write(chunk));
    client.on("close", () => upstream.destroy());
    client.on("data", (chunk) => {
      // The preparation sends the first login, on a connection that the load does not use.
      if (chunk.toString("latin1").startsWith("POST /auth/login ")) logins += 1;
      if (logins === 1 && fault === "refused") server.close();
      if (logins <= 1) upstream.write(chunk);
      else fail(client);
    });
  });
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const fail = (client: Socket): void => {
    if (fault === "reset") client.resetAndDestroy();
    if (fault === "closed") client.end();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return { url: `http://127.0.0.1:${address.port}`, [Symbol.dispose]: close };
}
