/** Adds the headers that every response has. They are converted to the runtime's form once, because that is slow. */

interface ResponseSettings {
  headers: Record<string, unknown>;
  status?: number | string;
}

/**
 * The function that it returns receives the value of a response and returns the value to send. A header of the response
 * itself replaces the default one.
 */
export function createDefaultHeaders(defaults: Readonly<Record<string, string>>) {
  const native = new Headers(defaults);
  const addTo = (headers: Headers, { headers: own }: ResponseSettings): Headers => {
    for (const name in own) headers.set(name, String(own[name]));
    return headers;
  };
  return (value: unknown, set: ResponseSettings): unknown => {
    if (!isJson(value)) {
      set.headers = toRecord(addTo(new Headers(native), set));
      return value;
    }
    // The router would copy the headers once more. It sends a response as it is if `set` is empty, so no hook may read
    // the status or the headers from `set` after this one.
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

/** The cast is safe because the router passes the headers to `Response`, or reads them as `Headers` if they are. */
const toRecord = (headers: Headers): Record<string, string> => headers as unknown as Record<string, string>;
