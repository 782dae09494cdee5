/** The metrics listener. It has its own port, never the public one, and serves `/metrics` only. */
import { listen } from "../lifecycle/startup-errors.ts";
import type { Metrics } from "./metrics.ts";

interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, "read">;
}

/** @throws {StartupError} if the port is not available */
export function serveMetrics({ host, port, metrics }: MetricsServerOptions): Bun.Server<undefined> {
  const respond = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== "/metrics") return new Response("Not Found", { status: 404 });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const { contentType, text } = await metrics.read();
    return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
  };
  // Without `reusePort`, because a second process on this port would receive half of the scrapes.
  const open = () =>
    Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: respond });
  return listen({ variable: "METRICS_PORT", host, port, open });
}
