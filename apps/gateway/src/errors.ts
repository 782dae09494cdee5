/**
 * The only table from error codes to responses. Services and repositories throw errors, and only the error handler converts
 * errors to responses. An error whose code is not in the table becomes an `INTERNAL_ERROR` without details.
 */
import { BODY_MAX_BYTES, BODY_MAX_CHUNKS, type OAuthError, type ValidationIssue } from "@latchkey/contracts";
import type { Feature, Features } from "./feature-flags.ts";

export interface ErrorResponse {
  readonly status: number;
  readonly body: {
    readonly detail: string | readonly ValidationIssue[];
    readonly code: ErrorCode | "CLIENT_CLOSED";
    readonly field?: string;
    readonly state?: string;
    readonly error?: OAuthError;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** An error of middleware or of a feature. The database and the hasher define their own errors. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  constructor(
    readonly code: ErrorCode,
    readonly properties: ErrorProperties = {},
  ) {
    super(code);
  }
}

/** An error that is only logged: it does not change the response. */
export class LoggedError extends Error {
  constructor(
    override readonly name: string,
    message: string,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

interface ErrorDefinition {
  readonly status: number;
  /** When the error occurs, for the OpenAPI document. */
  readonly description: string;
  readonly detail: string | ((error: ErrorProperties) => ErrorResponse["body"]["detail"]);
  readonly headers?: (error: ErrorProperties) => ErrorResponse["headers"];
  /** Whether the body contains `field`. @default false */
  readonly hasField?: true;
  /** Whether the body contains `state`. @default false */
  readonly hasState?: true;
  /** The error in the words of OAuth, in the body. @default the body of `POST /oauth/token` contains `invalid_request` */
  readonly oauthError?: OAuthError;
  /** An operation that lists the error returns it only if one of these features is on. @default always */
  readonly features?: readonly Feature[];
}

/** The response to an error depends on these properties. An error has the properties that the definition of its code uses. */
export interface ErrorProperties {
  readonly issues?: readonly ValidationIssue[];
  /** The quota as text, for example `5 per 1 minute`. */
  readonly quota?: string;
  /** The member of the request whose value another user has. */
  readonly field?: "email" | "username";
  /** The parameter of a form. */
  readonly parameter?: string;
  /** For the next step of the login. */
  readonly state?: string;
  /** The methods that the path supports. */
  readonly allow?: string;
  readonly retryAfterSeconds?: number;
  /** How long the response is delayed. */
  readonly delayMs?: number;
}

/** Of every 401 (RFC 9110 §11.6.1). */
const CHALLENGE = { "WWW-Authenticate": "Bearer" };
const retryAfter = ({ retryAfterSeconds = 1 }: ErrorProperties) => ({
  "Retry-After": String(retryAfterSeconds),
});

const defineErrors = <Code extends string>(errors: Readonly<Record<Code, ErrorDefinition>>) => errors;

/** Codes are part of the API: never rename a code. */
export const ERROR_TABLE = defineErrors({
  USER_ALREADY_EXISTS: {
    status: 409,
    description: "The e-mail or username belongs to another user.",
    detail: "A user with this e-mail or username already exists",
    hasField: true,
  },
  REGISTRATION_CLOSED: {
    status: 403,
    description: "Only the operator creates users.",
    detail: "Registration is closed",
    features: ["closedRegistration"],
  },
  INVALID_TOKEN_REQUEST: {
    status: 400,
    description: "The body is not form-encoded, or a parameter is missing, repeated or malformed.",
    detail: ({ parameter }) =>
      parameter === undefined
        ? "The body must be sent as application/x-www-form-urlencoded"
        : `The parameter ${parameter} is missing, repeated or malformed`,
    oauthError: "invalid_request",
  },
  INVALID_CLIENT: {
    status: 400,
    description: "No client of the configuration has this `client_id`.",
    detail: "Unknown client",
    oauthError: "invalid_client",
  },
  INVALID_GRANT: {
    status: 400,
    description: "The code is not accepted. The reason is only logged.",
    detail: "Invalid, expired or used code",
    oauthError: "invalid_grant",
  },
  UNSUPPORTED_GRANT_TYPE: {
    status: 400,
    description: "The `grant_type` is not `authorization_code`.",
    detail: "Unsupported grant type",
    oauthError: "unsupported_grant_type",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    description: "Unknown e-mail or wrong password.",
    detail: "Incorrect e-mail or password",
  },
  ONE_TIME_TOKEN_INVALID: {
    status: 400,
    description:
      "The token of the link is malformed, expired or outdated; except for verifications, also used, or its user is inactive.",
    detail: "Invalid or expired link",
  },
  IDENTITY_REJECTED: {
    status: 401,
    description: "The login with the provider is rejected. The reason is only logged.",
    detail: "The login with the provider was not accepted",
  },
  LOGIN_CODE_INVALID: {
    status: 401,
    description: "The code or the state is wrong, expired or used, or had too many attempts.",
    detail: "Invalid or expired code",
  },
  IDENTITY_ALREADY_USED: {
    status: 409,
    description: "The identity belongs to another user.",
    detail: "Another user has this identity",
  },
  TOO_MANY_IDENTITIES: {
    status: 409,
    description: "The user already has ten identities.",
    detail: "The user already has ten identities",
  },
  LAST_LOGIN: {
    status: 409,
    description: "Without it, the user could not log in any more.",
    detail: "The user could not log in without it",
  },
  RECENT_LOGIN_REQUIRED: {
    status: 403,
    description:
      "The login is older than five minutes, and the user has no password or has a second factor, or the request is for a code of hosted login: the user must log in again.",
    detail: "Log in again to continue",
    features: ["otherLogins", "hostedLogin"],
  },
  IDENTITY_NOT_FOUND: {
    status: 404,
    description: "The current user has no such identity.",
    detail: "Identity not found",
  },
  PROVIDER_UNAVAILABLE: {
    status: 503,
    description: "The provider does not respond in time, or its response is not valid.",
    detail: "The provider is unavailable",
    headers: retryAfter,
  },
  PASSKEY_INVALID: {
    status: 400,
    description:
      "The state or the response of the new passkey is not valid, the user or the passkeys have changed since the options, or the user has ten passkeys.",
    detail: "The passkey was not created: begin again",
  },
  PASSKEY_REJECTED: {
    status: 401,
    description: "The login with a passkey is rejected. The reason is only logged.",
    detail: "The passkey was not accepted",
  },
  INVALID_TOKEN: {
    status: 401,
    description: "The token is missing, expired, revoked, wrongly signed or malformed.",
    detail: "Invalid or expired token",
  },
  INVALID_API_KEY: {
    status: 401,
    description: "The key is missing or wrong.",
    detail: "Missing or wrong API key",
    features: ["administration"],
  },
  KEY_NOT_ALLOWED: {
    status: 403,
    description: "The key can only read: users and account events, or only account events.",
    detail: "The API key does not allow this request",
    features: ["restrictedKeys"],
  },
  LOGIN_REQUIRED: {
    status: 401,
    description:
      "The user must log in again: the token is valid but cannot be renewed or give a code of hosted login, its login lacked the second factor, or the state is not valid any more.",
    detail: "Log in again",
  },
  INACTIVE_USER: {
    status: 403,
    description: "The user is deactivated.",
    detail: "The user is inactive",
  },
  CURRENT_PASSWORD_INCORRECT: {
    status: 403,
    description: "The current password is wrong.",
    detail: "Incorrect current password",
  },
  SECOND_FACTOR_REQUIRED: {
    status: 403,
    description:
      "The first factor is right, but the user has a second one: send `state` and a code to `POST /auth/login/factor` within five minutes.",
    detail: "A code of the second factor is required",
    hasState: true,
  },
  FACTOR_CODE_REJECTED: {
    status: 401,
    description: "The code is wrong or was used.",
    detail: "Incorrect code",
  },
  FACTOR_CODE_INCORRECT: {
    status: 403,
    description: "The code is wrong or was used.",
    detail: "Incorrect code",
  },
  FACTOR_CODE_INVALID: {
    status: 400,
    description:
      "A code or the state is wrong or expired, the user or the second factor has changed since the options, or the mailed code had too many attempts.",
    detail: "The second factor was not set up: begin again",
  },
  FACTOR_LOCKED: {
    status: 403,
    description: "After 100 wrong codes, only recovery codes are accepted.",
    detail: "Too many wrong codes: use a recovery code",
  },
  FACTOR_NOT_FOUND: {
    status: 404,
    description: "The user has no second factor.",
    detail: "Second factor not found",
  },
  OWNER_PROOF_REQUIRED: {
    status: 403,
    description:
      "The configuration requires a proof of the owner, which this operation has not: use the one whose path ends in `/removal`.",
    detail: "Send POST to this path followed by /removal, with current_password",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    description: "The e-mail is not verified.",
    detail: "The e-mail is not verified",
  },
  EMAIL_NOT_MAILABLE: {
    status: 409,
    description: "The e-mail gets no mail: its domain does not exist, or it could be read as another one.",
    detail: "The e-mail gets no mail",
    features: ["administration"],
  },
  USER_NOT_FOUND: {
    status: 404,
    description: "The current user no longer exists.",
    detail: "User not found",
  },
  PASSKEY_NOT_FOUND: {
    status: 404,
    description: "The current user has no such passkey.",
    detail: "Passkey not found",
  },
  TODO_NOT_FOUND: {
    status: 404,
    description: "The todo does not exist.",
    detail: "Todo not found",
  },
  NOT_FOUND: { status: 404, description: "The path does not exist.", detail: "Not Found" },
  METHOD_NOT_ALLOWED: {
    status: 405,
    description: "The path does not support this method.",
    detail: "Method Not Allowed",
    headers: ({ allow = "" }) => ({ Allow: allow }),
  },
  CURSOR_EXPIRED: {
    status: 410,
    description:
      "Events after the cursor are no longer kept, or the database was restored: read all users, then continue with a new cursor.",
    detail: "Events after this cursor are missing: read all users and start again",
    features: ["accountEvents"],
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    description: `The body is larger than ${BODY_MAX_BYTES / 1024} KiB or has more than ${BODY_MAX_CHUNKS} chunks.`,
    detail: "Payload Too Large",
  },
  EXPECTATION_FAILED: {
    status: 417,
    description: "The request has an `Expect` header other than `100-continue`.",
    detail: "Expectation Failed",
    // The client may or may not send the body.
    headers: () => ({ Connection: "close" }),
  },
  INVALID_REQUEST: {
    status: 422,
    description: "The request is invalid. Each issue is listed; submitted values are not repeated.",
    detail: ({ issues = [] }) => issues,
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    description: "A rate limit is exceeded.",
    detail: ({ quota }) => `429: Too Many Requests: ${quota}`,
    headers: retryAfter,
  },
  TOO_MANY_READERS: {
    status: 503,
    description: "On this replica, 100 requests already wait for events.",
    detail: "Too many requests are waiting for events",
    headers: retryAfter,
    features: ["accountEvents"],
  },
  HASH_QUEUE_FULL: {
    status: 503,
    description: "The hash queue is full, or the password has waited too long.",
    detail: "Too many passwords are waiting to be checked",
    headers: retryAfter,
  },
  HASHER_CLOSED: {
    status: 503,
    description: "The service is shutting down.",
    detail: "The service is stopping",
    headers: retryAfter,
  },
  HASH_WORKER_CRASHED: {
    status: 503,
    description: "The hash worker crashed twice, or the verification of an imported hash failed.",
    detail: "The password could not be checked",
    headers: retryAfter,
  },
  DATABASE_UNAVAILABLE: {
    status: 503,
    description: "The database is unreachable.",
    detail: "The database is unavailable",
  },
  INTERNAL_ERROR: {
    status: 500,
    description: "An unexpected error. Its cause is only logged.",
    detail: "Internal Server Error",
  },
});
export type ErrorCode = keyof typeof ERROR_TABLE;
/** Whether an operation that lists the error can return it while these features are on. */
export const canOccur = (code: ErrorCode, enabled: Features): boolean =>
  ERROR_TABLE[code].features?.some((feature) => enabled.has(feature)) ?? true;
/** The errors of requests that reach no operation. */
export const REQUEST_ERRORS = ["NOT_FOUND", "METHOD_NOT_ALLOWED", "EXPECTATION_FAILED"] as const;
/** The errors that a derivation can cause. */
export const HASHING_ERRORS = ["HASH_QUEUE_FULL", "HASHER_CLOSED", "HASH_WORKER_CRASHED"] as const;
/** The errors of every login, whatever its way (`login.ts`), and the features that they need. */
const LOGIN_ERRORS: readonly (readonly [code: ErrorCode, feature?: Feature])[] = [
  ["INACTIVE_USER"],
  ["EMAIL_NOT_VERIFIED", "verifiedEmail"],
  ["SECOND_FACTOR_REQUIRED", "secondFactor"],
];
export const loginErrorsOf = (isTwoFactor: boolean, enabled: Features): ErrorCode[] =>
  LOGIN_ERRORS.flatMap(([code, feature]) => {
    const isAsked = code !== "SECOND_FACTOR_REQUIRED" || !isTwoFactor;
    return isAsked && (feature === undefined || enabled.has(feature)) ? [code] : [];
  });
/** The errors of a request that proves the owner (`proveOwner`). */
export const OWNER_ERRORS = [
  "CURRENT_PASSWORD_INCORRECT",
  "RECENT_LOGIN_REQUIRED",
  ...HASHING_ERRORS,
] as const;
/** The errors of a request with a code of the second factor. */
export const FACTOR_ERRORS = ["FACTOR_CODE_INCORRECT", "FACTOR_LOCKED"] as const;
/** The cast is safe because the table has no other members. */
export const ERROR_CODES = Object.keys(ERROR_TABLE) as readonly ErrorCode[];

/** The client has closed the connection. This response is only logged, with the status that nginx uses. */
const CLIENT_CLOSED: ErrorResponse = {
  status: 499,
  body: { detail: "Client Closed Request", code: "CLIENT_CLOSED" },
  headers: {},
};

export function toErrorResponse(error: unknown): ErrorResponse {
  if (!(error instanceof Error)) return errorResponseFor("INTERNAL_ERROR");
  if (error.name === "AbortError") return CLIENT_CLOSED;
  if (error instanceof ServiceError) return errorResponseFor(error.code, error.properties);
  return "code" in error && isErrorCode(error.code)
    ? errorResponseFor(error.code, propertiesOf(error))
    : errorResponseFor("INTERNAL_ERROR");
}

/** Every member of `ErrorProperties` is optional, so any error satisfies this type. */
const propertiesOf = (error: object): ErrorProperties => error;

export function errorResponseFor(code: ErrorCode, error: ErrorProperties = {}): ErrorResponse {
  const { status, detail, headers, hasField, hasState, oauthError } = ERROR_TABLE[code];
  return {
    status,
    body: {
      detail: typeof detail === "string" ? detail : detail(error),
      code,
      ...(hasField && error.field && { field: error.field }),
      ...(hasState && error.state && { state: error.state }),
      ...(oauthError && { error: oauthError }),
    },
    headers: { ...(status === 401 && CHALLENGE), ...headers?.(error) },
  };
}

/** Adds the member that clients of OAuth read (RFC 6749 §5.2). */
export const withOAuthError = ({ status, body }: ErrorResponse): ErrorResponse["body"] =>
  status < 500 ? { ...body, error: body.error ?? "invalid_request" } : body;

export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERROR_TABLE, code);
