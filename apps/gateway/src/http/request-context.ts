/**
 * Per-request values that middleware shares. The router searches the source text of hooks for what they use. If a hook
 * passes its whole context to a function, or `context` is followed by a comma, the router parses every body, query and
 * cookie. No name starts with that of a member of the router's context, such as `server`: the search confuses the two.
 * `elysia-internals.test.ts` checks this.
 */
import { Elysia } from "elysia";
import type { AuditEntry } from "../observability/audit.ts";

export function requestContext() {
  return (
    new Elysia({ name: "request-context" })
      .decorate("requestId", "")
      /** Whether the client sent the request id. */
      .decorate("isRequestIdInbound", false)
      /** From `traceparent`. */
      .decorate("traceId", undefined as string | undefined)
      .decorate("clientAddress", "unknown")
      /** The authenticated user, set by `bearerAuth`. */
      .decorate("userId", undefined as number | undefined)
      /** The security-relevant event of the request, for the log and the metrics. */
      .decorate("audit", undefined as AuditEntry | undefined)
      /** The replacement of an imported hash, for the log and the metrics. */
      .decorate("rehash", undefined as AuditEntry | undefined)
      /** The error that caused a 500 or 503, or one that did not change the response, for the log. */
      .decorate("errorToLog", undefined as unknown)
      /** `performance.now()` at the start of the request. */
      .decorate("startedAt", 0)
      .onRequest((context) => {
        context.startedAt = performance.now();
      })
  );
}

/** The router sets `path` before the first hook, but its types declare it only for later hooks. */
export interface RequestPath {
  readonly path: string;
}

/** Removes a trailing slash, as the router does when it matches routes. */
export const withoutTrailingSlash = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
