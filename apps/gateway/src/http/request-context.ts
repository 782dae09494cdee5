/** What the layers leave on a request's context for those further in. Set in `onRequest`, so every answer has it. */
import { Elysia } from "elysia";

export function requestContext() {
  return (
    new Elysia({ name: "request-context" })
      .decorate("requestId", "")
      /** Whether the client chose the request id. */
      .decorate("isRequestIdInbound", false)
      .decorate("clientAddress", "unknown")
      /** On the clock of `performance.now()`, in milliseconds. */
      .decorate("startedAt", 0)
  );
}

/** The path of the request line, without its query and without a trailing slash, as routes are matched. */
export function pathOf(context: { readonly request: Request }): string {
  // The router puts `path` on the context before the first hook, though its types say so only for later ones.
  const { path } = context as { readonly request: Request; readonly path: string };
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
