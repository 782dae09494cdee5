/** The metrics listener: a port of its own, never the public one, with nothing else on it. */
import type { Metrics } from "./metrics.ts";

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, "read">;
}

/** @throws if the port cannot be had */
export function serveMetrics({ host, port, metrics }: MetricsServerOptions): Bun.Server<undefined> {
  return Bun.serve({
    hostname: host,
    port,
    async fetch(request) {
      if (new URL(request.url).pathname !== "/metrics") return new Response("Not Found", { status: 404 });
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
      }
      const { contentType, text } = await metrics.read();
      return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
    },
  });
}
