/** Converts every error to the response in the error table. Adds the error to the log entry if the status is 5xx. */
import { type AnyElysia, Elysia, ParseError } from "elysia";
import { requestEntry } from "../elysia/request-entry.ts";
import { errorResponseFor, ServiceError, toErrorResponse, withOAuthError } from "../errors.ts";
import { drainChunkedBody } from "../http/body.ts";
import type { Logger } from "../observability/logger.ts";
import type { Paths } from "./access-log.ts";

/** @param oauthPaths those whose errors clients of OAuth read */
export function errorHandler(oauthPaths: Paths) {
  return new Elysia({ name: "error-handler" })
    .use(requestEntry())
    .onError({ as: "global" }, async (context) => {
      const { request, set } = context;
      const error =
        context.error instanceof ParseError ? (context.error.cause ?? context.error) : context.error;
      const response = toErrorResponse(error);
      const { status, headers } = response;
      const body = oauthPaths.has(context.entry.matchedPath) ? withOAuthError(response) : response.body;
      set.status = status;
      Object.assign(set.headers, headers);
      context.entry.code = body.code;
      if (status >= 500) context.entry.error = error;
      if (error instanceof ServiceError && error.properties.delayMs)
        await Bun.sleep(error.properties.delayMs);
      await drainChunkedBody(request);
      return body;
    });
}

/** Handles errors that Elysia cannot handle, such as a thrown `undefined`. The response has no default headers. */
export function fallbackErrorHandler(logger: Logger) {
  return (error: unknown): Response => {
    const { status, body } = errorResponseFor("INTERNAL_ERROR");
    logger.error({ code: body.code, err: error }, "request failed outside the router");
    // The request can be chunked, so the connection must be closed (see `pipeline.ts`).
    return Response.json(body, { status, headers: { connection: "close" } });
  };
}

/** Returns 405 instead of 404 for methods that a path of `app` does not support. Register this plugin after all routes. */
export function methodNotAllowed(app: AnyElysia) {
  const routes = app.routes.filter(({ method }) => method !== "ALL");
  const fallbacks = new Elysia({ name: "method-not-allowed" });
  for (const [path, ofPath] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = new Set(ofPath.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : method)));
    const allow = [...methods].sort().join(", ");
    const refuse = () => {
      throw new ServiceError("METHOD_NOT_ALLOWED", { allow });
    };
    fallbacks.all(path, refuse, { parse: "none", detail: { hide: true } });
  }
  return fallbacks;
}
