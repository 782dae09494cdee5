/** Where every failure becomes an answer: asks the table, writes the envelope, keeps the cause of what is our fault for the log. */
import { Elysia, ParseError } from "elysia";
import { INTERNAL_ERROR_DETAIL, toErrorResponse } from "../errors.ts";
import type { Logger } from "../observability/logger.ts";
import { requestContext } from "./request-context.ts";

export function errorHandler() {
  return new Elysia({ name: "error-boundary" }).use(requestContext()).onError({ as: "global" }, (context) => {
    const { error, set } = context;
    const failure = error instanceof ParseError && error.cause ? error.cause : error;
    const { status, detail, headers } = toErrorResponse(failure);
    set.status = status;
    Object.assign(set.headers, headers);
    if (status >= 500) context.failure = failure;
    return { detail };
  });
}

/** For what the router itself fails on, such as a thrown `undefined`: the envelope, though without the layers. */
export function fallbackErrorHandler(logger: Logger) {
  return (error: unknown): Response => {
    logger.error({ err: error }, "request failed outside the router");
    const headers = { connection: "close" };
    return Response.json({ detail: INTERNAL_ERROR_DETAIL }, { status: 500, headers });
  };
}
