/** One line a request: what was asked, what was answered, how long it took. Probes at debug, everything else at info. */
import { Elysia } from "elysia";
import type { Logger } from "../logger.ts";
import { pathOf, requestContext } from "./request-context.ts";

export function accessLog(logger: Logger, isProbe: (path: string) => boolean) {
  return new Elysia({ name: "access-log" })
    .use(requestContext())
    .onRequest((context) => {
      context.startedAt = performance.now();
    })
    .onAfterResponse({ as: "global" }, (context) => {
      const level = isProbe(pathOf(context)) ? "debug" : "info";
      if (!logger.isLevelEnabled(level)) return;
      const { request, route, set, responseValue, requestId, isRequestIdInbound, clientAddress, startedAt } =
        context;
      logger[level]({
        request_id: requestId,
        request_id_inbound: isRequestIdInbound,
        method: request.method,
        route,
        status: responseValue instanceof Response ? responseValue.status : set.status,
        duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
        client_address: clientAddress,
        user_id: userIdOf(context),
      });
    });
}

/** The authenticated user, where the authentication layer has put one. */
function userIdOf(context: object): number | undefined {
  if (!("user" in context) || typeof context.user !== "object" || context.user === null) return undefined;
  return "id" in context.user && typeof context.user.id === "number" ? context.user.id : undefined;
}
