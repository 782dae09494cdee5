/** The envelope of every error, and the stable codes that the service tells its failures apart by. */
import Type from "typebox";

/** Every error that the service answers with on purpose; the gateway's table gives each its status and detail. */
export const ERROR_CODES = [
  "USER_ALREADY_EXISTS",
  "INVALID_CREDENTIALS",
  "INVALID_TOKEN",
  "INACTIVE_USER",
  "USER_NOT_FOUND",
  "TODO_NOT_FOUND",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "PAYLOAD_TOO_LARGE",
  "INVALID_REQUEST",
  "TOO_MANY_REQUESTS",
  "HASH_QUEUE_FULL",
  "HASHER_CLOSED",
  "HASH_WORKER_CRASHED",
  "DATABASE_UNAVAILABLE",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** One fault of a request: where it is, what is wrong, and a stable name for it; never the submitted value. */
export const ValidationIssue = Type.Object({
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), { examples: [["body", "password"]] }),
  msg: Type.String({ examples: ["must not have fewer than 8 characters"] }),
  type: Type.String({ examples: ["string_too_short"] }),
});
export type ValidationIssue = Type.Static<typeof ValidationIssue>;

export const ErrorBody = Type.Object({ detail: Type.String() });
export const ValidationErrorBody = Type.Object({ detail: Type.Array(ValidationIssue, { minItems: 1 }) });
