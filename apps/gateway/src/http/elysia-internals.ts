/**
 * What the service changes inside the router, with the requests/s that each saves on `/healthz`, `/auth/me` and a page of
 * todos. Without it, responses are the same. `elysia-internals.test.ts` fails when the router ignores the first two.
 */
import type { AnyElysia } from "elysia";

/**
 * The router awaits a hook whose source contains `return` and a call. Only for hooks that return no promise.
 * Saves 14, 8 and 2 %.
 */
export function markSynchronous(hooks: readonly { isAsync?: boolean }[] = []): void {
  for (const hook of hooks) hook.isAsync = false;
}

/**
 * A parameter of a hook is named `cookie`, which makes the router parse the cookies of every request. The cast is safe while
 * the router keeps what its hooks read in `inference`. Saves 2, 16 and 6 %.
 */
export function skipCookies(app: AnyElysia): void {
  (app as unknown as { readonly inference: { cookie: boolean } }).inference.cookie = false;
}

interface ResponseSettings {
  headers: Record<string, unknown>;
  status?: number | string;
}

/**
 * Converts the default headers to the runtime's form once, and sends JSON as a `Response` that has them: the router would copy
 * them again. Saves 6 % on `/auth/me` and 3 % on a page of todos, and a fifth of the 99th percentile. The function that it
 * returns receives the value of a response and returns the value to send. A header of the response itself replaces the default
 * one. The cast is safe because the router passes the headers to `Response`, or reads them as `Headers` if they are.
 */
export function createDefaultHeaders(defaults: Readonly<Record<string, string>>) {
  const native = new Headers(defaults);
  const addTo = (headers: Headers, { headers: own }: ResponseSettings): Headers => {
    for (const name in own) headers.set(name, String(own[name]));
    return headers;
  };
  return (value: unknown, set: ResponseSettings): unknown => {
    if (!isJson(value)) {
      set.headers = addTo(new Headers(native), set) as unknown as Record<string, string>;
      return value;
    }
    // The router sends a response as it is if `set` is empty, so no hook may read the status or the headers after this one.
    const response = Response.json(value, { status: Number(set.status), headers: native });
    addTo(response.headers, set);
    set.headers = {};
    set.status = 200;
    return response;
  };
}

/** Everything else that routes return, such as text, bytes and a `Response`, needs no serialization that could fail. */
const isJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value.constructor === Object || Array.isArray(value));
