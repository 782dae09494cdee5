/** A proxy between a program of the documents and the service. It fails like a proxy that restarts. */
import { createServer } from "node:http";

/** @param cuts is called for each response; true closes the connection within the body */
export function startCuttingProxy(target: string, cuts: () => boolean) {
  const server = createServer(async ({ url = "", headers: { authorization = "" } }, response) => {
    const upstream = await fetch(target + url, { headers: { authorization } }).catch(() => null);
    // The service ended while the program waited.
    if (!upstream) {
      response.socket?.destroy();
      return;
    }
    const body = await upstream.text();
    response.writeHead(upstream.status, { "content-length": Buffer.byteLength(body) });
    if (cuts()) response.write(body.slice(0, body.length / 2), () => response.socket?.destroy());
    else response.end(body);
  });
  server.listen(0, "127.0.0.1");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("unreachable");
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
