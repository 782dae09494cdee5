/** Adds CORS headers to every response, and responds to preflights. Credentials are never allowed. */
import { cors as corsHeaders } from "@elysiajs/cors";
import { Elysia } from "elysia";
import { requestEntry } from "../elysia/request-entry.ts";
import { markSynchronous } from "../elysia/workarounds.ts";
import type { AccessLog } from "./access-log.ts";

const METHODS = "GET, HEAD, POST, PATCH, DELETE";
const REQUEST_HEADERS = "Authorization, Content-Type, X-Request-ID, traceparent, tracestate";
const EXPOSED_HEADERS = "X-Request-ID, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset";
const PREFLIGHT_MAX_AGE_SECONDS = 600;
/** The plugin's types omit `false`. The cast is safe because the plugin sets a header only for `true` or a string. */
const DISABLED = false as unknown as string;

/** Whether a request is a preflight (Fetch standard, §3.2.2). Any other OPTIONS request is an ordinary request. */
const isPreflight = (request: Request): boolean =>
  request.method === "OPTIONS" &&
  request.headers.has("origin") &&
  request.headers.has("access-control-request-method");

/** The CORS headers of every response, regardless of the origin of the request. */
export const CORS_HEADERS = { vary: "Origin", "access-control-expose-headers": EXPOSED_HEADERS };

/** The CORS headers of every response of a server that allows these origins. */
export const corsHeadersFor = (origins: "*" | readonly string[]) => ({
  ...CORS_HEADERS,
  ...(origins === "*" && { "access-control-allow-origin": "*" }),
});

/** @param origins exact origins, or `*` for any */
export function cors(origins: "*" | readonly string[]) {
  const allowed = new Set(origins);
  const isAllowed = (request: Request) => allowed.has(request.headers.get("origin") ?? "");
  const plugin = corsHeaders({
    origin: origins === "*" ? "*" : allowed.size > 0 && isAllowed,
    // Only preflights need `methods` and `allowedHeaders`. `CORS_HEADERS` contains the exposed headers.
    methods: false,
    allowedHeaders: DISABLED,
    exposeHeaders: DISABLED,
    credentials: false,
    // The plugin would respond to any OPTIONS request, before other middleware runs. Use `preflight` below instead.
    preflight: false,
  });
  markSynchronous(plugin.event.request);
  return new Elysia({ name: "cors" }).use(plugin).onRequest(({ set }) => {
    // The plugin sets `Vary: *`, which disables all caching.
    if (set.headers.vary !== undefined) set.headers.vary = CORS_HEADERS.vary;
  });
}

/** Responds to preflights. Register this plugin after the middleware that applies to every response. */
export function preflight(log: AccessLog, defaultHeaders: Record<string, string>) {
  const preflightHeaders = {
    ...defaultHeaders,
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": REQUEST_HEADERS,
    "access-control-max-age": String(PREFLIGHT_MAX_AGE_SECONDS),
  };
  return new Elysia({ name: "preflight" }).use(requestEntry()).onRequest(({ entry, request }) => {
    if (!isPreflight(request)) return;
    entry.status = 204;
    log(entry);
    return new Response(null, { status: 204, headers: preflightHeaders });
  });
}
