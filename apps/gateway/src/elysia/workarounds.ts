/**
 * Workarounds for Elysia 1.4. "Saves" states the saved processor time on `/healthz`, `/auth/me` and a page of todos. A workaround
 * that saves time does not change responses. `workarounds.test.ts` fails if Elysia ignores a workaround. Statements about
 * Elysia 2 refer to the source of 2.0.0-exp.25.
 */
import { type AnyElysia, Elysia } from "elysia";

/** Must exceed the limit of `bodyLimit`, because Bun's own 413 has no JSON body and no default headers. */
const SERVER_MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Elysia, not Bun, routes all paths, so that HEAD, 404 and hooks behave the same on every path. `standardHostname: false` accepts
 * host names of any length.
 */
export const createRouter = (idleTimeoutSeconds: number, onError: (error: unknown) => Response) =>
  new Elysia({
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
    normalize: false,
    serve: {
      maxRequestBodySize: SERVER_MAX_BODY_BYTES,
      reusePort: false,
      idleTimeout: idleTimeoutSeconds,
      // Development error pages contain source code and paths.
      development: false,
      error: onError,
    },
  });

/**
 * Elysia awaits a hook whose source contains `return` and a call. This function prevents that: use it only for hooks that return
 * no promise. Saves 7, 0 and 0 %. Elysia 2 awaits only asynchronous functions.
 */
export function markSynchronous(hooks: readonly { isAsync?: boolean }[] = []): void {
  for (const hook of hooks) hook.isAsync = false;
}

/**
 * The same for the handler of a route: Elysia cannot read the source of a bound function. Use it only for handlers that return no
 * promise.
 */
export const synchronous = <Handler extends (context: never) => unknown>(handler: Handler): Handler =>
  handler.bind(undefined) as Handler;

/**
 * Adds a route without Elysia's types, which cannot infer from a list of operations. The cast is safe because `http/operation.ts`
 * types each handler by the schemas that validate its input.
 */
export function addRoute(
  app: AnyElysia,
  method: string,
  path: string,
  handler: unknown,
  hooks: object,
): void {
  const router = app as unknown as {
    route(method: string, path: string, handler: unknown, hooks: object): void;
  };
  router.route(method, path, handler, hooks);
}
