/**
 * What the layers leave on a request's context for those further in. Set in `onRequest`, so every answer has it.
 * No hook hands its whole context to a function, nor names it before a comma: the router reads hooks as text, and would
 * then parse every body, query and cookie for them. `router-inference.test.ts` holds this.
 */
import { Elysia } from "elysia";

export function requestContext() {
  return (
    new Elysia({ name: "request-context" })
      .decorate("requestId", "")
      /** Whether the client chose the request id. */
      .decorate("isRequestIdInbound", false)
      .decorate("clientAddress", "unknown")
      /** Whose token it is, once the gate has let it pass. */
      .decorate("userId", undefined as number | undefined)
      /** Why the answer is a 500 or a 503, for the log. */
      .decorate("failure", undefined as unknown)
      /** On the clock of `performance.now()`, in milliseconds. */
      .decorate("startedAt", 0)
  );
}

/** The router puts `path` on the context before the first hook, though its types say so only for later ones. */
export interface RequestPath {
  readonly path: string;
}

/** The path without a trailing slash, as routes are matched. */
export const withoutTrailingSlash = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
