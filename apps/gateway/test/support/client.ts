/** An HTTP client for tests that sends JSON and reads the complete response. */

export interface CallOptions {
  /** Sent as JSON; a string, bytes or a stream (chunked) are sent unchanged. */
  readonly body?: unknown;
  /** Sent as a bearer token. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export type ClientResponse = Awaited<ReturnType<typeof callService>>;

export async function callService(url: string, method: string, options: CallOptions) {
  const { body, token, headers, signal } = options;
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
    redirect: "manual",
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const parsed: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
  return {
    status: response.status,
    headers: response.headers,
    text,
    /** The parsed JSON; undefined for an empty body. */
    body: parsed,
    /** Returns the body if the response has this status, otherwise fails the test with the response. */
    expect<Body>(status: number): Body {
      if (response.status === status) return parsed as Body;
      throw new Error(`${method} ${url}: expected ${status}, got ${response.status} ${text}`);
    },
  };
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> =>
  typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
