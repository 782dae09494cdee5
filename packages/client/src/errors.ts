/** `LatchkeyError` for an error response or a redirect, and `LatchkeyConnectionError` if there is no response. */
import type { ErrorCode, ResponseOf, ValidationIssue } from "./types.ts";

class ResponseError extends Error {
  override readonly name = "LatchkeyError";
  readonly status: number;
  /** Undefined if the response is not from the service, for example a proxy's error page. A newer service can send other codes. */
  readonly code: ErrorCode | undefined;
  readonly detail: string | ValidationIssue[];
  /** The taken one, if `code` is `USER_ALREADY_EXISTS`. */
  readonly field: "email" | "username" | undefined;
  /** If `code` is `SECOND_FACTOR_REQUIRED`: identifies the login for five minutes. It is no token. */
  readonly state: string | undefined;
  /**
   * Only of a login whose `code` is `SECOND_FACTOR_REQUIRED`: completes it with a code of the user's application, or with a recovery
   * code, and stores the token. It can be called again after a wrong code (401 `FACTOR_CODE_REJECTED`).
   */
  finish:
    | ((
        code: string,
        options?: { readonly signal?: AbortSignal | null },
      ) => Promise<ResponseOf<"login">[200]>)
    | undefined;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds until a retry is useful, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  /** @param body the parsed JSON, or the text of any other body */
  constructor(response: Response, body: unknown) {
    const { detail, code, field, state } = toEnvelope(body);
    const issues = Array.isArray(detail) ? detail.filter(isIssue) : [];
    const message = typeof detail === "string" ? detail : issues.map(describeIssue).join("; ");
    super(message || describeStatus(response));
    this.status = response.status;
    this.code = typeof code === "string" ? (code as ErrorCode) : undefined;
    this.detail = this.status === 422 ? issues : this.message;
    this.field = field === "email" || field === "username" ? field : undefined;
    this.state = typeof state === "string" ? state : undefined;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = parseRetryAfter(response.headers.get("retry-after"));
  }
}

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type ToNumber<Text> = Text extends `${infer Value extends number}` ? Value : never;
/** From 0 to 599. Types that count with tuples take the compiler seconds. */
type Status = ToNumber<`${Digit}` | `${Exclude<Digit, 0>}${Digit}` | `${1 | 2 | 3 | 4 | 5}${Digit}${Digit}`>;

/**
 * An error response, a redirect, which is never followed, or a success response that is not from the service. If `status` is
 * 422, `detail` is the list of issues, or empty if a proxy sent the response. For any other status, `detail` is a sentence.
 * Browsers hide the status of a redirect, so it is 0.
 */
export type LatchkeyError = ResponseError &
  (
    | { readonly status: 422; readonly detail: ValidationIssue[] }
    | { readonly status: Exclude<Status, 422>; readonly detail: string }
  );

/** The cast is safe because the constructor sets `detail` according to `status`, and every status is below 600. */
export const LatchkeyError = ResponseError as unknown as {
  new (response: Response, body: unknown): LatchkeyError;
  readonly prototype: LatchkeyError;
};

/** System error codes of requests that were not sent. Bun sets the code on the error of `fetch`, Node on the error's `cause`. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];

/**
 * There is no response: the service is unreachable, the connection was lost, or the request timed out. `cause` is the reason; another
 * error of this class if the expired token could not be renewed before the request.
 */
export class LatchkeyConnectionError extends Error {
  override readonly name = "LatchkeyConnectionError";
  readonly method: string;
  readonly path: string;
  /** False if the request was certainly not sent. Always true in browsers, because browsers do not report whether a request was sent. */
  readonly mayHaveBeenExecuted: boolean;

  constructor({ method, path }: { method: string; path: string }, cause: unknown) {
    // The renewal of the token has no response, so the request was not sent.
    const isOfRenewal = cause instanceof LatchkeyConnectionError;
    const mayHaveBeenExecuted =
      !isOfRenewal && !wasNotSent(cause) && !(cause instanceof Error && wasNotSent(cause.cause));
    const reason = cause instanceof Error ? cause.message : cause;
    const hint = mayHaveBeenExecuted && path === "/auth/register" ? "; the account may exist already" : "";
    super(`${method} ${path} has no response: ${reason}${hint}`, { cause });
    this.method = method;
    this.path = path;
    this.mayHaveBeenExecuted = mayHaveBeenExecuted;
  }
}

const wasNotSent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && NOT_SENT.includes(String(error.code));

function describeStatus({ ok, status, statusText, type }: Response): string {
  if (ok) return "The response is not from the service; check baseUrl";
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  return isRedirect ? "Redirects are not followed; check baseUrl" : statusText || `HTTP ${status}`;
}

const describeIssue = ({ loc, msg }: ValidationIssue): string => `${loc.join(".")} ${msg}`;

/** Returns an empty object if the body has no members, for example the text of a proxy's page. */
const toEnvelope = (body: unknown): { readonly [Name in "detail" | "code" | "field" | "state"]?: unknown } =>
  typeof body === "object" && body !== null ? body : {};

/** A proxy or a gateway can send another form. */
const isIssue = (issue: unknown): issue is ValidationIssue =>
  typeof issue === "object" && issue !== null && "loc" in issue && Array.isArray(issue.loc) && "msg" in issue;

/** Converts seconds or an HTTP date (RFC 9110 §10.2.3) to seconds from now, rounded up; undefined for any other text. */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value));
  // `Date.parse` accepts many texts that are not HTTP dates, such as "-1".
  const seconds = /^[A-Z][a-z]+, /.test(value) ? (Date.parse(value) - Date.now()) / 1000 : Number.NaN;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
