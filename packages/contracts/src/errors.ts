/** The body of every error response. */
import Type from "typebox";

/** One issue of an invalid request: the location, a message and a stable type. An issue never contains the submitted value. */
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
/** Only in an error about a value that another user has. */
export const TakenField = Type.Enum(["email", "username"], {
  description: "The value that another user has; `email` if both are taken. Only with `USER_ALREADY_EXISTS`.",
});
const ValidationErrorBody = Type.Object({
  detail: Type.Array(ValidationIssue, { minItems: 1 }),
  code: Type.Literal("INVALID_REQUEST"),
});

/** The keys are the names in the OpenAPI document. */
export const VALIDATION_ERRORS = { ValidationErrorResponse: ValidationErrorBody, ValidationIssue };
