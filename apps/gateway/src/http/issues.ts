/** Issues of invalid requests, for refinements and for the examples of the OpenAPI document. */
import type { ValidationIssue } from "@latchkey/contracts";

type Location = "body" | "query" | "path";

export const issue = (location: Location, name: string, msg: string, type: string): ValidationIssue => ({
  loc: [location, name],
  msg,
  type,
});

/** @param type a type of JSON Schema */
export const wrongType = (
  location: Location,
  name: string,
  type: "boolean" | "integer" | "object" | "string",
) => issue(location, name, `must be ${/^[aio]/.test(type) ? "an" : "a"} ${type}`, `${type}_type`);

export const unknownParameter = (name: string) =>
  issue("query", name, "is not a parameter of this operation", "unknown_parameter");

const malformed = (name: string, msg: string) => issue("body", name, msg, "string_pattern_mismatch");

export const INVALID_EMAIL = malformed("email", "is not a valid e-mail address");
export const INVALID_CHALLENGE = malformed("code_challenge", "is not an S256 challenge");
export const INVALID_VERIFIER = malformed(
  "code_verifier",
  "must have 43 to 128 of the characters A to Z, a to z, 0 to 9, and - . _ ~",
);
export const LISTED_PASSWORD = issue("body", "password", "is too common or was leaked", "password_listed");
export const shortPassword = (minLength: number) =>
  issue("body", "password", `must be at least ${minLength} characters long`, "string_too_short");
