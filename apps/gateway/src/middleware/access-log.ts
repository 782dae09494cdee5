/**
 * Writes one log line per request, with a message such as `POST /todos 201 2.2 ms`. Levels: error for a 500, warn for a 503
 * and for an error that did not change the response, debug for probes, info for everything else.
 */
import { Elysia } from "elysia";
import { createDefaultHeaders } from "../http/default-headers.ts";
import { markSynchronous } from "../http/elysia-internals.ts";
import { requestContext, withoutTrailingSlash } from "../http/request-context.ts";
import type { Logger } from "../observability/logger.ts";
import type { RequestObservation } from "../observability/metrics.ts";

interface AccessLogEntry extends RequestObservation {
  readonly path: string;
  readonly requestId: string;
  readonly isRequestIdInbound: boolean;
  readonly traceId: string | undefined;
  readonly clientAddress: string;
  readonly userId?: number | undefined;
  /** The error that caused a 500 or 503, or one that did not change the response. */
  readonly error?: unknown;
}

export type AccessLog = (entry: AccessLogEntry) => void;

interface AccessLogOptions {
  readonly logger: Logger;
  /** Only for a terminal: paths can contain tokens. */
  readonly logsPaths: boolean;
  readonly isProbe: (path: string) => boolean;
}

export function createAccessLog({ logger, logsPaths, isProbe }: AccessLogOptions): AccessLog {
  const levelOf = ({ path, status, error }: AccessLogEntry) => {
    // A 503, for example for a full queue, is not a bug.
    if (error !== undefined) return status === 500 ? "error" : "warn";
    return isProbe(withoutTrailingSlash(path)) ? "debug" : "info";
  };

  return (entry) => {
    if (entry.rehash) {
      const { emailDigest: email_digest, userId: user_id, ...rehash } = entry.rehash;
      const ids = { request_id: entry.requestId, trace_id: entry.traceId };
      logger.info({ ...ids, ...rehash, user_id, email_digest }, rehash.event);
    }
    const level = levelOf(entry);
    if (!logger.isLevelEnabled(level)) return;
    const { method, route = "-", status, durationMs } = entry;
    const line = {
      request_id: entry.requestId,
      request_id_inbound: entry.isRequestIdInbound,
      trace_id: entry.traceId,
      method,
      path: logsPaths ? entry.path : undefined,
      route: entry.route,
      status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      client_address: entry.clientAddress,
      event: entry.audit?.event,
      user_id: entry.audit?.userId ?? entry.userId,
      email_digest: entry.audit?.emailDigest,
      reason: entry.audit?.reason,
      amr: entry.audit?.amr,
      err: entry.error,
    };
    logger[level](line, `${method} ${route} ${status} ${durationMs.toFixed(1)} ms`);
  };
}

interface ResponseOptions {
  readonly log: AccessLog;
  /** Paths whose responses are logged only together with an error. */
  readonly skipLogging: (path: string) => boolean;
  readonly defaultHeaders: Readonly<Record<string, string>>;
}

/**
 * Adds the default headers to every response and logs it, in one hook because the router runs only one of this kind. A hook
 * that returns a response before routing does both itself. The entries of one turn of the event loop are written after it
 * in one task: writing each one in its response costs 10 % of the requests/s of routes that query the database.
 */
export function accessLog({ log, skipLogging, defaultHeaders }: ResponseOptions) {
  const addDefaultHeaders = createDefaultHeaders(defaultHeaders);
  let pending: (() => void)[] = [];
  const writePending = (): void => {
    const entries = pending;
    pending = [];
    for (const write of entries) write();
  };
  const schedule = (write: () => void): void => {
    if (pending.length === 0) setImmediate(writePending);
    pending.push(write);
  };
  const middleware = new Elysia({ name: "access-log" })
    .use(requestContext())
    .mapResponse({ as: "global" }, (context) => {
      const { responseValue, set } = context;
      const status = responseValue instanceof Response ? responseValue.status : set.status;
      const response = addDefaultHeaders(responseValue, set);
      if (context.errorToLog !== undefined || !skipLogging(withoutTrailingSlash(context.path))) {
        schedule(() =>
          log({
            path: context.path,
            requestId: context.requestId,
            isRequestIdInbound: context.isRequestIdInbound,
            traceId: context.traceId,
            method: context.request.method,
            route: context.route,
            status,
            durationMs: performance.now() - context.startedAt,
            clientAddress: context.clientAddress,
            userId: context.userId,
            audit: context.audit,
            rehash: context.rehash,
            error: context.errorToLog,
          }),
        );
      }
      return toResponse(response);
    });
  markSynchronous(middleware.event.mapResponse);
  return middleware;
}

/** An error before routing reaches the client only if the hook returns it. The router converts it like any other value. */
const toResponse = (value: unknown): Response => value as Response;
