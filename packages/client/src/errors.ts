/** The errors that the methods throw: for an error response or a redirect, and for a missing response. */
import type { ErrorCode, ValidationIssue } from "./types.ts";

class ResponseError extends Error {
  override readonly name = "LatchkeyError";
  readonly status: number;
  /** Undefined if the response is not the service's, for example a proxy's error page. A newer service can send other codes. */
  readonly code: ErrorCode | undefined;
  readonly detail: string | ValidationIssue[];
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds until a retry is useful, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  /** @param body the parsed JSON, or the text of any other body */
  constructor(response: Response, body: unknown) {
    const { detail = describeStatus(response), code } = toEnvelope(body);
    const message = typeof detail === "string" ? detail : detail.map(describeIssue).join("; ");
    super(message);
    this.status = response.status;
    this.code = code;
    this.detail = this.status !== 422 ? message : typeof detail === "string" ? [] : detail;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"));
  }
}

type NumbersBelow<End extends number, Below extends number[] = []> = Below["length"] extends End
  ? Below[number]
  : NumbersBelow<End, [...Below, Below["length"]]>;

/**
 * An error response, or a redirect, which is never followed. `detail` is the list of issues if `status` is 422 (empty if a proxy
 * sent it), otherwise a sentence. `status` is 0 for a redirect in a browser, which hides its status.
 */
export type LatchkeyError = ResponseError &
  (
    | { readonly status: 422; readonly detail: ValidationIssue[] }
    | { readonly status: Exclude<NumbersBelow<600>, 422>; readonly detail: string }
  );

/** The cast is safe because the constructor sets `detail` according to the status, which is below 600. */
export const LatchkeyError = ResponseError as unknown as {
  new (response: Response, body: unknown): LatchkeyError;
  readonly prototype: LatchkeyError;
};

/** The system's codes for requests that were not sent: Bun has them in the error of `fetch`, Node in its cause. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];

/** There is no response: the service is unreachable, the connection was lost, or the time is over. `cause` is the reason. */
export class LatchkeyConnectionError extends Error {
  override readonly name = "LatchkeyConnectionError";
  readonly method: string;
  readonly path: string;
  /** False if the request was certainly not sent; always true in browsers, which do not report it. */
  readonly mayHaveBeenExecuted: boolean;

  constructor({ method, url }: Pick<Request, "method" | "url">, cause: unknown) {
    const path = new URL(url).pathname;
    super(`${method} ${path} has no response: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.method = method;
    this.path = path;
    this.mayHaveBeenExecuted = !wasNotSent(cause) && !(cause instanceof Error && wasNotSent(cause.cause));
  }
}

const wasNotSent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && NOT_SENT.includes(String(error.code));

function describeStatus({ status, statusText, type }: Response): string {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  return isRedirect ? "Redirects are not followed; check baseUrl" : statusText || `HTTP ${status}`;
}

const describeIssue = ({ loc, msg }: ValidationIssue): string => `${loc.join(".")} ${msg}`;

interface Envelope {
  readonly detail?: string | ValidationIssue[];
  readonly code?: ErrorCode;
}

/** Every response of the service with `detail` is an envelope; any other body becomes an empty one. */
const toEnvelope = (body: unknown): Envelope =>
  typeof body === "object" && body !== null && "detail" in body ? (body as Envelope) : {};

/** Seconds or an HTTP date (RFC 9110 §10.2.3); undefined if it is neither. */
export function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
