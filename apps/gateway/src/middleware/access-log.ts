/**
 * Writes one log line per request, with a message such as `POST /todos 201 2.2 ms`. Levels: error for a 500, warn for a 503
 * and for an error that did not change the response, debug for probes, info for everything else.
 */
import { Elysia } from "elysia";
import { type RequestEntry, requestContext, withoutTrailingSlash } from "../elysia/request-context.ts";
import { createResponder } from "../elysia/workarounds.ts";
import type { ErrorCode } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import type { RequestObservation } from "../observability/metrics.ts";

/** Writes the log line of a request. Called when the status of the response is known. */
export type AccessLog = (entry: RequestEntry) => void;

interface AccessLogOptions {
  readonly logger: Logger;
  /** Log paths on a terminal only, because paths can contain tokens. */
  readonly logsPaths: boolean;
  readonly isProbe: (path: string) => boolean;
  readonly isAsset: (path: string) => boolean;
  /** Called for each request, after the log line of the request. @default none */
  readonly observe?: ((request: RequestObservation) => void) | undefined;
}

interface ResponseOptions {
  readonly log: AccessLog;
  /** Whether requests to the path are logged only if an error occurs. */
  readonly skipLogging: (path: string) => boolean;
  readonly defaultHeaders: Readonly<Record<string, string>>;
}

/**
 * Adds the default headers to every response and logs the request, in one hook because Elysia runs only one `mapResponse` hook.
 * A hook that responds before routing adds the headers and logs the request itself. One task writes all entries of a turn of
 * the event loop: writing each entry with its response adds 6 % to the processor time of a page of todos.
 */
export function accessLog({ log, skipLogging, defaultHeaders }: ResponseOptions) {
  const respond = createResponder(defaultHeaders);
  let pending: RequestEntry[] = [];
  const writePending = (): void => {
    const entries = pending;
    pending = [];
    for (const entry of entries) log(entry);
  };
  return new Elysia({ name: "access-log" })
    .use(requestContext())
    .mapResponse({ as: "global" }, ({ entry, request, responseValue, route, set }) => {
      entry.status = responseValue instanceof Response ? responseValue.status : set.status;
      entry.route = route;
      // `elysia-rate-limit` returns its 429 without an error, so the error handler does not set the code.
      if (entry.status === 429) entry.code ??= "TOO_MANY_REQUESTS" satisfies ErrorCode;
      const response = respond(responseValue, set, request);
      if (entry.error !== undefined || !skipLogging(withoutTrailingSlash(entry.path))) {
        if (pending.length === 0) setImmediate(writePending);
        pending.push(entry);
      }
      return response;
    });
}

export function createAccessLog({ logger, logsPaths, isProbe, isAsset, observe }: AccessLogOptions) {
  const levelOf = ({ path, status, error }: RequestEntry) => {
    // A 503, for example for a full queue, is not a bug.
    if (error !== undefined) return status === 500 ? "error" : "warn";
    return isProbe(withoutTrailingSlash(path)) ? "debug" : "info";
  };
  return (entry: RequestEntry): void => {
    entry.durationMs = performance.now() - entry.startedAt;
    // All assets are logged as one route, because the path of each asset contains a hash.
    if (isAsset(entry.route ?? "")) entry.route = "/docs/assets/*";
    const { requestId: request_id, traceId: trace_id, method, route = "-", status, durationMs } = entry;
    if (entry.rehash) {
      const { emailDigest: email_digest, userId: user_id, ...rehash } = entry.rehash;
      logger.info({ request_id, trace_id, ...rehash, user_id, email_digest }, rehash.event);
    }
    const level = levelOf(entry);
    if (!entry.isLoggedElsewhere && logger.isLevelEnabled(level)) {
      const line = {
        request_id,
        request_id_inbound: entry.isRequestIdInbound,
        trace_id,
        method,
        path: logsPaths ? entry.path : undefined,
        route: entry.route,
        status,
        code: entry.code,
        duration_ms: Math.round(durationMs * 1000) / 1000,
        client_address: entry.clientAddress,
        actor: entry.actor,
        event: entry.audit?.event,
        user_id: entry.audit?.userId ?? entry.userId,
        email_digest: entry.audit?.emailDigest,
        reason: entry.audit?.reason,
        provider: entry.audit?.provider,
        amr: entry.audit?.amr,
        err: entry.error,
      };
      logger[level](line, `${method} ${route} ${status} ${durationMs.toFixed(1)} ms`);
    }
    observe?.(entry);
  };
}
