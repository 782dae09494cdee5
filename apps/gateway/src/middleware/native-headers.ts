/**
 * Converts the headers that every response has to the runtime's form once. Converting about fifteen headers anew for each
 * response took longer than all other middleware together.
 */
import type { AnyElysia } from "elysia";

/** Register it after the middleware that sets default headers, and before the routes. */
export function nativeHeaders<App extends AnyElysia>(app: App): App {
  const defaults = defaultHeadersOf(app);
  const native = new Headers(defaults);
  app.mapResponse({ as: "global" }, ({ set, responseValue }) => {
    // The router repeats this hook if a response could not be serialized.
    if (!(set.headers instanceof Headers)) {
      const headers = new Headers(native);
      for (const name in set.headers) {
        const value = set.headers[name];
        if (value !== defaults[name]) headers.set(name, String(value));
      }
      set.headers = toRecord(headers);
    }
    // The error handler of the router would lose the response if this hook returned nothing.
    return unchanged(responseValue);
  });
  return app;
}

/** The headers set with `headers()`. The cast is safe while the router keeps them there; the start fails if it does not. */
function defaultHeadersOf(app: AnyElysia): Record<string, string> {
  const { setHeaders } = app as unknown as { readonly setHeaders?: Record<string, string> };
  if (!setHeaders) throw new Error("The router no longer exposes its default headers");
  return setHeaders;
}

/** The router's type allows `Response` only. The cast is safe because it converts what the hook returns like any other value. */
const unchanged = (responseValue: unknown): Response => responseValue as Response;

/** The cast is safe because the router passes the headers to `Response`, or reads them as `Headers` if they are. */
const toRecord = (headers: Headers): Record<string, string> => headers as unknown as Record<string, string>;
