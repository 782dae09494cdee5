/**
 * What middleware, routes and the access log share during a request. Elysia, also in version 2, decides by a text search which
 * members a hook reads. A name that begins like one of its own, such as `server`, would match. If a hook passes its whole
 * context to a function, the router parses every body, query and cookie. `workarounds.test.ts` checks this.
 */
import { Elysia } from "elysia";
import type { RequestObservation } from "../observability/metrics.ts";

/** What the log and the metrics contain of a request. Middleware and routes complete it. */
export interface RequestEntry extends RequestObservation {
  readonly path: string;
  /** `performance.now()` at the start of the request. */
  readonly startedAt: number;
  requestId: string;
  /** Whether the client sent the request id. */
  isRequestIdInbound: boolean;
  /** From `traceparent`. */
  traceId?: string | undefined;
  clientAddress: string;
  /** The authenticated user. */
  userId?: number;
  /** The error that caused a 500 or 503, or one that did not change the response. */
  error?: unknown;
}

const createEntry = (method: string, path: string): RequestEntry => ({
  method,
  path,
  startedAt: performance.now(),
  durationMs: 0,
  requestId: "",
  isRequestIdInbound: false,
  clientAddress: "unknown",
});

export const requestContext = () =>
  new Elysia({ name: "request-context" })
    .decorate("entry", createEntry("", ""))
    .decorate("clientAddress", "unknown")
    .onRequest((context) => {
      // Elysia sets `path` before the first hook, but its types declare it only for later ones, also in version 2.
      const { path } = context as typeof context & { readonly path: string };
      context.entry = createEntry(context.request.method, path);
    });

/** Removes a trailing slash, as the router does when it matches routes. */
export const withoutTrailingSlash = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
