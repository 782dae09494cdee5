/**
 * The one table from a failure's code to what a client is told of it. A code that is not in it is a 500 that says
 * nothing; services and repositories throw, and only the error boundary asks here.
 */
import type { ErrorCode, ValidationIssue } from "@latchkey/contracts";

export interface ErrorResponse {
  readonly status: number;
  readonly detail: string | readonly ValidationIssue[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Thrown by the HTTP layers; the domain's own errors are thrown where their rules are. */
export class InvalidRequest extends Error {
  override readonly name = "InvalidRequest";
  readonly code = "INVALID_REQUEST" satisfies ErrorCode;
  constructor(readonly issues: readonly ValidationIssue[]) {
    super("The request is not valid");
  }
}

export class PayloadTooLarge extends Error {
  override readonly name = "PayloadTooLarge";
  readonly code = "PAYLOAD_TOO_LARGE" satisfies ErrorCode;
}

export class MethodNotAllowed extends Error {
  override readonly name = "MethodNotAllowed";
  readonly code = "METHOD_NOT_ALLOWED" satisfies ErrorCode;
  constructor(readonly allow: string) {
    super("The path has no such method");
  }
}

export class TooManyRequests extends Error {
  override readonly name = "TooManyRequests";
  readonly code = "TOO_MANY_REQUESTS" satisfies ErrorCode;
  /** @param quota in words, such as `5 per 1 minute` */
  constructor(
    readonly quota: string,
    readonly retryAfterSeconds: number,
  ) {
    super(`Over the quota of ${quota}`);
  }
}

interface Row {
  readonly status: number;
  /** For the OpenAPI document: when this happens. */
  readonly description: string;
  /** What the client is told; a function where it depends on the error. */
  readonly detail: string | ((error: Failure) => ErrorResponse["detail"]);
  readonly headers?: (error: Failure) => ErrorResponse["headers"];
}

/** What a row may read of its error; each member is there on the errors whose row asks for it. */
export interface Failure {
  readonly issues?: readonly ValidationIssue[];
  readonly quota?: string;
  readonly allow?: string;
  readonly retryAfterSeconds?: number;
}

const challenge = () => ({ "WWW-Authenticate": "Bearer" });
const retryAfter = ({ retryAfterSeconds = 1 }: Failure) => ({ "Retry-After": String(retryAfterSeconds) });

export const ERROR_TABLE: Readonly<Record<ErrorCode, Row>> = {
  USER_ALREADY_EXISTS: {
    status: 409,
    description: "The e-mail or the username belongs to another account.",
    detail: "A user with this e-mail or username already exists",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    description: "Unknown e-mail or wrong password.",
    detail: "Incorrect e-mail or password",
    headers: challenge,
  },
  INVALID_TOKEN: {
    status: 401,
    description: "The token is missing, expired, wrongly signed or malformed.",
    detail: "Invalid or expired token",
    headers: challenge,
  },
  INACTIVE_USER: {
    status: 403,
    description: "The account of the token is deactivated.",
    detail: "The user is inactive",
  },
  USER_NOT_FOUND: {
    status: 404,
    description: "The account of the token no longer exists.",
    detail: "User not found",
  },
  TODO_NOT_FOUND: { status: 404, description: "There is no todo with this id.", detail: "Todo not found" },
  NOT_FOUND: { status: 404, description: "There is no such path.", detail: "Not Found" },
  METHOD_NOT_ALLOWED: {
    status: 405,
    description: "The path has no such method.",
    detail: "Method Not Allowed",
    headers: ({ allow = "" }) => ({ Allow: allow }),
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    description: "The body is larger than 128 KiB or has more than 512 chunks.",
    detail: "Payload Too Large",
  },
  INVALID_REQUEST: {
    status: 422,
    description: "Something in the request is not valid; each fault is named, no value is repeated.",
    detail: ({ issues = [] }) => issues,
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    description: "Over a rate limit.",
    detail: ({ quota }) => `429: Too Many Requests: ${quota}`,
    headers: retryAfter,
  },
  HASH_QUEUE_FULL: {
    status: 503,
    description: "As many passwords wait to be checked as may wait.",
    detail: "Too many passwords are waiting to be checked",
    headers: retryAfter,
  },
  HASHER_CLOSED: {
    status: 503,
    description: "The service is stopping.",
    detail: "The service is stopping",
    headers: retryAfter,
  },
  HASH_WORKER_CRASHED: {
    status: 503,
    description: "Checking the password failed twice.",
    detail: "The password could not be checked",
    headers: retryAfter,
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    description: "The database does not answer.",
    detail: "The database is unavailable",
  },
};

export const INTERNAL_ERROR_DETAIL = "Internal Server Error";
const INTERNAL: ErrorResponse = { status: 500, detail: INTERNAL_ERROR_DETAIL, headers: {} };
/** Nobody reads this answer: the client hung up. 499 is what the access log shows, after nginx's custom. */
const CLIENT_GONE: ErrorResponse = { status: 499, detail: "Client Closed Request", headers: {} };

/** What a client is told of `error`. */
export function toErrorResponse(error: unknown): ErrorResponse {
  if (!(error instanceof Error)) return INTERNAL;
  if (error.name === "AbortError") return CLIENT_GONE;
  return "code" in error && isErrorCode(error.code)
    ? errorResponseFor(error.code, failureOf(error))
    : INTERNAL;
}

/** Every member of Failure is optional, so any error is one. */
const failureOf = (error: object): Failure => error;

/** The row of `code`, filled in from `failure`. */
export function errorResponseFor(code: ErrorCode, failure: Failure): ErrorResponse {
  const { status, detail, headers } = ERROR_TABLE[code];
  return {
    status,
    detail: typeof detail === "string" ? detail : detail(failure),
    headers: headers?.(failure) ?? {},
  };
}

const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERROR_TABLE, code);
