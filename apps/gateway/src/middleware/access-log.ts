/**
 * Exactly one line a request: what was asked, what was answered, how long it took and, where a failure of ours is the
 * reason, what failed. Probes at debug, failures at error or warn, everything else at info.
 */
import { Elysia } from "elysia";
import type { Logger } from "../observability/logger.ts";
import { requestContext, withoutTrailingSlash } from "./request-context.ts";

/** What a line tells of a request and its answer. */
export interface AccessLogEntry {
  readonly path: string;
  readonly requestId: string;
  readonly isRequestIdInbound: boolean;
  readonly method: string;
  /** The pattern that the path matched. */
  readonly route?: string | undefined;
  readonly status: number | string | undefined;
  readonly durationMs: number;
  readonly clientAddress: string;
  readonly userId?: number | undefined;
  /** The cause of a 500 or a 503. */
  readonly failure?: unknown;
}

export type AccessLog = (answered: AccessLogEntry) => void;

export interface AccessLogOptions {
  readonly logger: Logger;
  readonly isProbe: (path: string) => boolean;
}

const INTERNAL_ERROR = 500;

export function createAccessLog({ logger, isProbe }: AccessLogOptions): AccessLog {
  const levelOf = ({ path, status, failure }: AccessLogEntry) => {
    // What is refused in an orderly way, such as a full queue, is no bug.
    if (failure !== undefined) return status === INTERNAL_ERROR ? "error" : "warn";
    return isProbe(withoutTrailingSlash(path)) ? "debug" : "info";
  };

  return (answered) => {
    const level = levelOf(answered);
    if (!logger.isLevelEnabled(level)) return;
    const line = {
      request_id: answered.requestId,
      request_id_inbound: answered.isRequestIdInbound,
      method: answered.method,
      route: answered.route,
      status: answered.status,
      duration_ms: Math.round(answered.durationMs * 1000) / 1000,
      client_address: answered.clientAddress,
      user_id: answered.userId,
    };
    if (answered.failure === undefined) logger[level](line);
    else logger[level]({ ...line, err: answered.failure }, "request failed");
  };
}

/** Logs every answer but those that a hook gives before routing, which log themselves. */
export function accessLog(log: AccessLog) {
  return new Elysia({ name: "access-log" })
    .use(requestContext())
    .onRequest((context) => {
      context.startedAt = performance.now();
    })
    .onAfterResponse({ as: "global" }, (context) => {
      const { responseValue } = context;
      log({
        path: context.path,
        requestId: context.requestId,
        isRequestIdInbound: context.isRequestIdInbound,
        method: context.request.method,
        route: context.route,
        status: responseValue instanceof Response ? responseValue.status : context.set.status,
        durationMs: performance.now() - context.startedAt,
        clientAddress: context.clientAddress,
        userId: context.userId,
        failure: context.failure,
      });
    });
}
