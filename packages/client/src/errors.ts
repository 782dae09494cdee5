/** The error that every method throws when the service returns an error response or a redirect. */
import type { ErrorCode, ValidationIssue } from "./types.ts";

/**
 * An error response, or a redirect, which is never followed. Requests without a response reject with the error of `fetch`,
 * aborted ones with the signal's reason.
 */
export class LatchkeyError extends Error {
  override readonly name = "LatchkeyError";
  /** 0 for a redirect in a browser, which hides its status. */
  readonly status: number;
  /** Undefined if the response is not the service's, for example a proxy's error page. A newer service can send other codes. */
  readonly code: ErrorCode | undefined;
  /** One sentence, or for `INVALID_REQUEST` the list of issues. */
  readonly detail: string | ValidationIssue[];
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds until a retry is useful, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  /** @param body the parsed JSON, or the text of any other body */
  constructor(response: Response, body: unknown) {
    const { detail = describeStatus(response), code } = toEnvelope(body);
    super(typeof detail === "string" ? detail : detail.map(describeIssue).join("; "));
    this.status = response.status;
    this.code = code;
    this.detail = detail;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"));
  }
}

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
