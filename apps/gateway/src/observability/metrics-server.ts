/**
 * Serves `/metrics` on a port of its own, never on the public port. Metrics need no credentials, so a server that only this machine
 * can reach responds only to a `Host` that no web page can choose: DNS can give any name the address 127.0.0.1 (DNS rebinding).
 */
import { isIPv4, isIPv6 } from "node:net";
import { leavesMachine } from "@latchkey/config";
import type { Metrics } from "./metrics.ts";

/** The address of an IPv6 host in brackets, or any other host, without the port (RFC 9110 §7.2). */
const HOST = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d*)?$/;

/** Whether the value of the header is an address, `localhost` or `hostname`. A missing one is not. */
function isOwnHost(value: string | null, hostname: string): boolean {
  const [, ipv6, other = ""] = HOST.exec(value ?? "") ?? [];
  if (ipv6 !== undefined) return isIPv6(ipv6);
  return isIPv4(other) || ["localhost", hostname.toLowerCase()].includes(other.toLowerCase());
}

/** @throws if the port is not available */
export function serveMetrics(
  metrics: Pick<Metrics, "read">,
  { hostname, port }: { readonly hostname: string; readonly port: number },
): Bun.Server<undefined> {
  type Respond = (request: Request) => Response | Promise<Response>;
  const guard =
    (respond: Respond) =>
    (request: Request, server: Bun.Server<undefined>): Response | Promise<Response> => {
      // The URL of the server has the address in its usual form, also for 127.1.
      const isReachable = leavesMachine(server.url.href);
      if (isReachable || isOwnHost(request.headers.get("host"), hostname)) return respond(request);
      return new Response("Misdirected Request", { status: 421 });
    };
  const respond: Respond = async ({ method }) => {
    if (method !== "GET" && method !== "HEAD")
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    const { contentType, text } = await metrics.read();
    return new Response(text, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
  };
  return Bun.serve({
    hostname,
    port,
    // With `reusePort`, a second process could open the same port and would receive half of the scrapes.
    reusePort: false,
    development: false,
    routes: { "/metrics": guard(respond) },
    fetch: guard(() => new Response("Not Found", { status: 404 })),
  });
}
