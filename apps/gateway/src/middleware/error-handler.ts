/** Converts every error to a response: the envelope from the error table, and the error behind a 5xx for the log. */
import { type AnyElysia, Elysia, ParseError } from "elysia";
import { requestContext } from "../elysia/request-context.ts";
import { errorResponseFor, ServiceError, toErrorResponse } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import { drainChunkedBody } from "./transport-headers.ts";

export function errorHandler() {
  return new Elysia({ name: "error-handler" })
    .use(requestContext())
    .onError({ as: "global" }, async (context) => {
      const { request, set } = context;
      const error =
        context.error instanceof ParseError ? (context.error.cause ?? context.error) : context.error;
      const { status, body, headers } = toErrorResponse(error);
      set.status = status;
      Object.assign(set.headers, headers);
      if (status >= 500) context.entry.error = error;
      if (error instanceof ServiceError && error.properties.delayMs)
        await Bun.sleep(error.properties.delayMs);
      await drainChunkedBody(request);
      return body;
    });
}

/** For errors that the router cannot handle, such as a thrown `undefined`: the envelope, without the usual headers. */
export function fallbackErrorHandler(logger: Logger) {
  return (error: unknown): Response => {
    logger.error({ err: error }, "request failed outside the router");
    const { status, body } = errorResponseFor("INTERNAL_ERROR");
    // The request may have been chunked: see `transport-headers.ts`.
    return Response.json(body, { status, headers: { connection: "close" } });
  };
}

/** Returns 405 for other methods of the paths of `app`, which would otherwise be a 404. Register it after all routes. */
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
