/** The metrics listener: a port of its own, never the public one, with nothing else on it. */
import { listen } from "../lifecycle/startup-errors.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, "read">;
}

/** @throws {StartupError} if the port is not available */
export function serveMetrics({ host, port, metrics }: MetricsServerOptions): Bun.Server<undefined> {
  const answer = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== "/metrics") return new Response("Not Found", { status: 404 });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const { contentType, text } = await metrics.read();
    return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
  };
  // Never shared: a second process on this port would take half of the scrapes.
  const open = () => Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: answer });
  return listen({ variable: "METRICS_PORT", host, port, open });
}
