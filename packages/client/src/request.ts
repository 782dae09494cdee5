/**
 * Sends the requests of the API, typed by the OpenAPI document. Nothing that a proxy or a captive portal sends is mistaken for a
 * response of the service.
 */
import { reasonOf, startDeadline, timeoutError } from "./deadline.ts";
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import type { paths } from "./schema.ts";
import type { Json } from "./types.ts";

/** The default of `timeoutMs`. */
export const TIMEOUT_MS = 10_000;

type HeaderValues = Readonly<Record<string, string>>;

export interface TransportOptions extends RetryOptions {
  /** The URL of the service, for example `https://accounts.example.com`. */
  readonly baseUrl: string;
  /**
   * Sends a request. Must not follow redirects: `request.redirect` is `manual`. In React Server Components, pass `request.url` and
   * the members on instead of `request`, otherwise a GET is memoized. @default the global `fetch`, looked up at each call
   */
  readonly fetch?: ((request: Request, init: { signal: AbortSignal }) => Promise<Response>) | undefined;
  /** Headers of every request, or a function that returns them for each call. Those of the client take precedence. @default none */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>) | undefined;
}

export interface RequestOptions extends Pick<RetryOptions, "timeoutMs"> {
  /** Aborts the request and all retries. The method then rejects with the signal's reason. */
  readonly signal?: AbortSignal | null;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type PathOf<Paths, M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Lowercase<M>, object> ? Path : never;
}[keyof Paths];
type OperationAt<Paths, M extends Method, Path> = Path extends keyof Paths
  ? Paths[Path] extends Record<Lowercase<M>, infer Operation>
    ? Operation
    : never
  : never;

const FORM_TYPE = "application/x-www-form-urlencoded";
type ResultOf<Operation> = Operation extends { responses: infer Responses }
  ? Json<Responses[keyof Responses & (200 | 201)]>
  : never;
/** What a call of an operation passes. A success response without the member `member` is not from the service, nor is one with a body if the operation has none. */
type Parts<Operation> = (Operation extends { requestBody: { content: { [FORM_TYPE]: infer Form } } }
  ? { readonly form: Form }
  : Operation extends { requestBody: infer Message }
    ? { readonly body: Json<Message> }
    : unknown) &
  (Operation extends { parameters: { path: infer Path } } ? { readonly path: Path } : unknown) &
  (Operation extends { parameters: { query?: infer Query } }
    ? { readonly query?: Query | undefined }
    : unknown) &
  ([ResultOf<Operation>] extends [never] ? unknown : { readonly member: keyof ResultOf<Operation> });

export interface Init extends RequestOptions {
  /** The token to send. */
  readonly token?: string | undefined;
}

/** @throws {LatchkeyError} @throws {LatchkeyConnectionError} @throws the signal's reason */
export type SendRequest<Paths = paths> = <M extends Method, Path extends PathOf<Paths, M>>(
  method: M,
  path: Path,
  parts: Parts<OperationAt<Paths, M, Path>>,
  init?: Init,
) => Promise<
  [ResultOf<OperationAt<Paths, M, Path>>] extends [never] ? void : ResultOf<OperationAt<Paths, M, Path>>
>;

interface UntypedParts {
  readonly form?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: object | undefined;
  readonly member?: PropertyKey;
}

export function createTransport<Paths = paths>(options: TransportOptions): SendRequest<Paths> {
  async function send(
    method: Method,
    template: string,
    { body: json, form, path: values = {}, query = {}, member }: UntypedParts,
    { token, signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS }: Init = {},
  ): Promise<unknown> {
    if (signal?.aborted) throw reasonOf(signal);
    const path = toPath(template, { path: values });
    const url = options.baseUrl.replace(/\/$/, "") + path + toSearch(query);
    const { headers: given } = options;
    const headers = new Headers(typeof given === "function" ? await given() : given);
    const sent = json === undefined ? undefined : JSON.stringify(json);
    const body = form ? new URLSearchParams(form).toString() : sent;
    if (body !== undefined) headers.set("content-type", form ? FORM_TYPE : "application/json");
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const init = {
      method,
      headers,
      redirect: "manual",
      ...(body !== undefined && { body }),
    } as const;

    const attempt = async (): Promise<unknown> => {
      const deadline = startDeadline(timeoutMs, signal);
      const complete = { ...init, signal: deadline.signal };
      let response: Response;
      let text: string;
      try {
        // Next.js memoizes a GET of a `Request`, even with a signal, so that a retry or a second read would not be sent.
        response = await (options.fetch
          ? options.fetch(new Request(url, complete), { signal: deadline.signal })
          : globalThis.fetch(url, complete));
        text = await response.text();
      } catch (cause) {
        if (signal?.aborted) throw reasonOf(signal);
        throw new LatchkeyConnectionError({ method, path }, deadline.isOver ? timeoutError() : cause);
      } finally {
        deadline.clear();
      }
      return parseResponse(response, text, member);
    };
    return await withRetries(attempt, { method, path, signal }, options);
  }
  return send as SendRequest<Paths>;
}

/** The cast is safe because `Parts` only adds types to the members. @param parts have the values of the path's parameters */
export function toPath(template: string, parts: unknown): string {
  const { path: values = {} } = parts as UntypedParts;
  return template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])));
}

function toSearch(query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value != null);
  return entries.length === 0
    ? ""
    : `?${entries.map((entry) => entry.map(encodeURIComponent).join("=")).join("&")}`;
}

/** @throws {LatchkeyError} if the response is an error, or not from the service */
function parseResponse(response: Response, text: string, member: PropertyKey | undefined): unknown {
  const body = text === "" ? undefined : parseJson(text);
  // With 200 and 201, the service sends JSON, otherwise nothing.
  const isExpected =
    member === undefined ? body === undefined && response.status > 201 : hasMember(body, member);
  if (!response.ok || !isExpected) throw new LatchkeyError(response, body);
  return body;
}

function hasMember(body: unknown, member: PropertyKey): boolean {
  const value: unknown = typeof body === "object" && body !== null ? Reflect.get(body, member) : undefined;
  return value !== undefined && value !== null && value !== "";
}

/** Returns the text itself if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
