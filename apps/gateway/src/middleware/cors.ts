/** CORS headers on every response, and responses to preflights. Credentials are never allowed. */
import { cors as corsHeaders } from "@elysiajs/cors";
import { Elysia } from "elysia";
import type { AccessLog } from "./access-log.ts";
import { requestContext } from "./request-context.ts";

const METHODS = "GET, HEAD, POST, PATCH, DELETE";
const REQUEST_HEADERS = ["Authorization", "Content-Type", "X-Request-ID"];
const RESPONSE_HEADERS = [
  "X-Request-ID",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
];
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** A preflight as defined by the Fetch standard (§3.2.2); any other OPTIONS is an ordinary request. */
export const isPreflight = (request: Request): boolean =>
  request.method === "OPTIONS" &&
  request.headers.has("origin") &&
  request.headers.has("access-control-request-method");

/** @param origins exact origins, or `*` for any */
export function cors(origins: "*" | readonly string[]) {
  const allowed = new Set(origins);
  const isAllowed = (request: Request) => allowed.has(request.headers.get("origin") ?? "");
  const plugin = corsHeaders({
    origin: origins === "*" ? "*" : allowed.size > 0 && isAllowed,
    // Only preflights need them.
    methods: false,
    allowedHeaders: REQUEST_HEADERS,
    exposeHeaders: RESPONSE_HEADERS,
    credentials: false,
    // The plugin would respond to any OPTIONS, before the other middleware; `preflight` below runs after it.
    preflight: false,
  });
  // The router awaits a hook whose source contains `return` and a call, although this one returns no promise.
  for (const hook of plugin.event.request ?? []) hook.isAsync = false;
  return new Elysia({ name: "cors" })
    .use(plugin)
    .headers({ vary: "Origin" })
    .onRequest(({ set }) => {
      // The plugin sets `Vary: *`, which disables all caching.
      set.headers.vary = "Origin";
    });
}

/** Responds to preflights. Register it after the middleware that applies to every response. */
export function preflight(log: AccessLog) {
  return new Elysia({ name: "preflight" })
    .use(requestContext())
    .onRequest(({ request, set, requestId, isRequestIdInbound, startedAt, clientAddress }) => {
      if (!isPreflight(request)) return;
      log({
        path: new URL(request.url).pathname,
        requestId,
        isRequestIdInbound,
        method: request.method,
        status: 204,
        durationMs: performance.now() - startedAt,
        clientAddress,
      });
      set.headers["access-control-allow-methods"] = METHODS;
      set.headers["access-control-max-age"] = String(PREFLIGHT_MAX_AGE_SECONDS);
      return new Response(null, { status: 204 });
    });
}
