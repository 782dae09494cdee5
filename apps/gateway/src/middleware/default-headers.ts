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
    // The router repeats the call if a response could not be serialized.
    if (set.headers instanceof Headers) return value;
    if (!isPlainObject(value)) {
      set.headers = toRecord(addTo(new Headers(native), set));
      return value;
    }
    // One copy of the headers less than the router makes; it returns a response as it is if `set` is empty.
    const response = Response.json(value, { status: Number(set.status), headers: native });
    addTo(response.headers, set);
    set.headers = {};
    set.status = 200;
    return response;
  };
}

const isPlainObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && value.constructor === Object;

/** The cast is safe because the router passes the headers to `Response`, or reads them as `Headers` if they are. */
const toRecord = (headers: Headers): Record<string, string> => headers as unknown as Record<string, string>;
