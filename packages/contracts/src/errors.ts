/** The envelope of every error, and the stable error codes. */
import Type from "typebox";

/** Every error; the gateway's table contains its status and detail. Codes are part of the API: never rename one. */
export const ERROR_CODES = [
  "USER_ALREADY_EXISTS",
  "INVALID_CREDENTIALS",
  "ONE_TIME_TOKEN_INVALID",
  "INVALID_TOKEN",
  "INACTIVE_USER",
  "CURRENT_PASSWORD_INCORRECT",
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
  "INTERNAL_ERROR",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** One issue of an invalid request: its location, a message and a stable type; never the submitted value. */
export const ValidationIssue = Type.Object({
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), { examples: [["body", "password"]] }),
  msg: Type.String({ examples: ["must be at least 8 characters long"] }),
  type: Type.String({ examples: ["string_too_short"] }),
});
export type ValidationIssue = Type.Static<typeof ValidationIssue>;

export const ErrorBody = Type.Object({
  detail: Type.String({ description: "A sentence for people." }),
  code: Type.String({ description: "Identifies the error." }),
});
export const ValidationErrorBody = Type.Object({
  detail: Type.Array(ValidationIssue, { minItems: 1 }),
  code: Type.Literal("INVALID_REQUEST" satisfies ErrorCode),
});
