/**
 * The data that middleware, routes and the access log share during a request. Elysia 1 and 2 search the source of each hook for
 * the members that the hook reads. Do not add a member whose name begins with the name of a member of Elysia's context, such as
 * `server`: the search would match. A hook that passes its whole context to a function makes Elysia parse every body, query and
 * cookie (`workarounds.test.ts`).
 */
import { Elysia } from "elysia";
import type { RequestObservation } from "../observability/metrics.ts";

/** The data of a request for the log and the metrics. Middleware and routes add to the entry. */
export interface RequestEntry extends RequestObservation {
  readonly path: string;
  /** `path` without a trailing slash, which the router ignores when it matches routes. */
  readonly matchedPath: string;
  /** `performance.now()` at the start of the request. */
  readonly startedAt: number;
  requestId: string;
  /** Whether the client sent the request id. */
  isRequestIdInbound: boolean;
  /** From `traceparent`. */
  traceId?: string | undefined;
  clientAddress: string;
  /** The id in the request's token, if the signature of the token is valid. */
  userId?: number;
  /** The program whose key the request has: `admin:NAME`. */
  actor?: string;
  /** Whether a line of another request states what this line would. */
  isLoggedElsewhere?: boolean;
  /** The code of an error response. */
  code?: string;
  /** The error that caused a 500 or 503, or an error that did not change the response. */
  error?: unknown;
}

const UNKNOWN_ADDRESS = "unknown";

export const createEntry = (method: string, path: string, matchedPath: string): RequestEntry => ({
  method,
  path,
  matchedPath,
  startedAt: performance.now(),
  durationMs: 0,
  requestId: "",
  isRequestIdInbound: false,
  clientAddress: UNKNOWN_ADDRESS,
});

export const requestEntry = () =>
  new Elysia({ name: "request-entry" })
    // The first step of `middleware/pipeline.ts` replaces it for each request.
    .decorate("entry", createEntry("", "", ""))
    .decorate("clientAddress", UNKNOWN_ADDRESS);
