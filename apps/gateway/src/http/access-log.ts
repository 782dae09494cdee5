/** One line a request: what was asked, what was answered, how long it took. Probes at debug, everything else at info. */
import { Elysia } from "elysia";
import type { Logger } from "../logger.ts";
import { requestContext, withoutTrailingSlash } from "./request-context.ts";

/** What a line tells of a request and its answer. */
export interface Answered {
  readonly path: string;
  readonly requestId: string;
  readonly isRequestIdInbound: boolean;
  readonly method: string;
  /** The pattern that the path matched. */
  readonly route?: string | undefined;
  readonly status: number | string | undefined;
  readonly startedAt: number;
  readonly clientAddress: string;
  readonly userId?: number | undefined;
}

export type AccessLog = (answered: Answered) => void;

export function createAccessLog(logger: Logger, isProbe: (path: string) => boolean): AccessLog {
  return (answered) => {
    const level = isProbe(withoutTrailingSlash(answered.path)) ? "debug" : "info";
    if (!logger.isLevelEnabled(level)) return;
    logger[level]({
      request_id: answered.requestId,
      request_id_inbound: answered.isRequestIdInbound,
      method: answered.method,
      route: answered.route,
      status: answered.status,
      duration_ms: Math.round((performance.now() - answered.startedAt) * 1000) / 1000,
      client_address: answered.clientAddress,
      user_id: answered.userId,
    });
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
        startedAt: context.startedAt,
        clientAddress: context.clientAddress,
        userId: context.userId,
      });
    });
}
