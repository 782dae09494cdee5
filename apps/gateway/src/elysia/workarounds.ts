/**
 * Workarounds for Elysia 1.4. "Saves" states the saved processor time on `/healthz`, `/auth/me` and a page of todos. A workaround
 * that saves time does not change responses. `workarounds.test.ts` fails if Elysia ignores a workaround. Statements about
 * Elysia 2 refer to the source of 2.0.0-exp.25.
 */
import { type AnyElysia, type Context, Elysia } from "elysia";
import { mapResponse } from "elysia/adapter/bun/handler";

type ResponseSettings = Pick<Context["set"], "headers" | "status">;

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

/**
 * Returns a function that converts the result of a route to a response, and adds the default headers that the route does not
 * replace. The default headers are converted to `Headers` only once. Elysia 1 and 2 would copy the default headers for each
 * response. Saves 10, 2 and 3 %.
 */
export function createResponder(defaults: Readonly<Record<string, string>>) {
  const native = new Headers(defaults);
  const addTo = (headers: Headers, { headers: own }: ResponseSettings): Headers => {
    for (const name in own) headers.set(name, String(own[name]));
    return headers;
  };
  return (value: unknown, set: ResponseSettings, request: Request): Response => {
    let response: Response;
    if (isJson(value)) {
      response = Response.json(value, { status: Number(set.status), headers: native });
      addTo(response.headers, set);
    } else {
      set.headers = asSettings(addTo(new Headers(native), set));
      response = mapResponse(value, set, request);
    }
    // Elysia sends a response unchanged if `set` is empty. Later hooks therefore cannot read the status or the headers.
    set.headers = {};
    set.status = 200;
    return response;
  };
}

/** Whether `value` must be serialized as JSON, which can fail. Text, bytes and a `Response` need no serialization. */
const isJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value.constructor === Object || Array.isArray(value));

/** The cast is safe: `mapResponse` passes the headers to `Response`, which accepts `Headers`, or checks for `Headers` itself. */
const asSettings = (headers: Headers) => headers as unknown as ResponseSettings["headers"];
