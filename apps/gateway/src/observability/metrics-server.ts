/** The metrics listener. It has its own port, never the public one, and serves `/metrics` only. */
import type { Config } from "../config.ts";
import { listen } from "../lifecycle/startup-errors.ts";
import type { Metrics } from "./metrics.ts";

/** @throws {StartupError} if the port is not available */
export function serveMetrics(
  metrics: Pick<Metrics, "read">,
  address: NonNullable<Config["metrics"]>,
): Bun.Server<undefined> {
  const respond = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== "/metrics") return new Response("Not Found", { status: 404 });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const { contentType, text } = await metrics.read();
    return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
  };
  // Without `reusePort`, because a second process on this port would receive half of the scrapes.
  return listen("METRICS_PORT", address, () =>
    Bun.serve({
      hostname: address.host,
      port: address.port,
      reusePort: false,
      development: false,
      fetch: respond,
    }),
  );
}
