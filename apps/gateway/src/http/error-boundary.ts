/** Where every failure becomes an answer: asks the table, writes the envelope, logs the cause of what is our fault. */
import { Elysia, ParseError } from "elysia";
import { answerTo, INTERNAL_ERROR_DETAIL } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { requestContext } from "./request-context.ts";

export function errorBoundary(logger: Logger) {
  return new Elysia({ name: "error-boundary" })
    .use(requestContext())
    .onError({ as: "global" }, ({ error, set, requestId, request, route }) => {
      const failure = error instanceof ParseError && error.cause ? error.cause : error;
      const { status, detail, headers } = answerTo(failure);
      set.status = status;
      Object.assign(set.headers, headers);
      if (status >= 500) {
        logger.error(
          { request_id: requestId, method: request.method, route, err: failure },
          "request failed",
        );
      }
      return { detail };
    });
}

/** For what the router itself fails on, such as a thrown `undefined`: the envelope, though without the layers. */
export function lastResort(logger: Logger) {
  return (error: unknown): Response => {
    logger.error({ err: error }, "request failed outside the router");
    return Response.json({ detail: INTERNAL_ERROR_DETAIL }, { status: 500 });
  };
}
