/** Finds a free port of 127.0.0.1, for servers that cannot choose one themselves. */
import { once } from "node:events";
import { createServer } from "node:net";

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("127.0.0.1 has no free port.");
  return address.port;
}
