/** Issues of invalid requests, for refinements and for the examples of the OpenAPI document. */
import type { ValidationIssue } from "@latchkey/contracts";

export const INVALID_EMAIL: ValidationIssue = {
  loc: ["body", "email"],
  msg: "is not a valid e-mail address",
  type: "string_pattern_mismatch",
};

export const INVALID_CHALLENGE: ValidationIssue = {
  loc: ["body", "code_challenge"],
  msg: "is not an S256 challenge",
  type: "string_pattern_mismatch",
};

export const INVALID_VERIFIER: ValidationIssue = {
  loc: ["body", "code_verifier"],
  msg: "must have 43 to 128 of the characters A to Z, a to z, 0 to 9, and - . _ ~",
  type: "string_pattern_mismatch",
};

export const LISTED_PASSWORD: ValidationIssue = {
  loc: ["body", "password"],
  msg: "is too common or was leaked",
  type: "password_listed",
};

export const shortPassword = (minLength: number): ValidationIssue => ({
  loc: ["body", "password"],
  msg: `must be at least ${minLength} characters long`,
  type: "string_too_short",
});

/** @param type a type of JSON Schema */
export const wrongType = (
  location: "body" | "query" | "path",
  name: string,
  type: "boolean" | "integer" | "object" | "string",
): ValidationIssue => ({
  loc: [location, name],
  msg: `must be ${/^[aio]/.test(type) ? "an" : "a"} ${type}`,
  type: `${type}_type`,
});
