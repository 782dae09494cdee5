/** An application on its own origin: one page, whatever the path, that imports the client of the service. */
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";

/** @param body the content of the page. Its scripts import `/client.js` */
export async function serveApplication(body: string, port = 0) {
  const entry = join(ROOT, "packages/client/src/index.ts");
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser" });
  const html = `<!doctype html><meta name=viewport content="width=device-width"><link rel=icon href=data:,>${body}`;
  const routes = {
    "/client.js": new Response(outputs[0], { headers: { "content-type": "text/javascript" } }),
    "/*": new Response(html, { headers: { "content-type": "text/html" } }),
  };
  return Bun.serve({ hostname: "127.0.0.1", port, routes });
}
