/** Messages about invalid values. A message never contains the value itself. */
import type { TLocalizedValidationError } from "typebox/error";
import {
  BASE64URL_PATTERN,
  CLAIM_NAME_PATTERN,
  CODE_CHALLENGE_PATTERN,
  CODE_VERIFIER_PATTERN,
  EMAIL_PATTERN,
  NEW_EMAIL_PATTERN,
  ROLE_PATTERN,
  SEARCHED_EMAIL_PATTERN,
  VISIBLE_TEXT_PATTERN,
} from "./text.ts";

/** Describes a text of more than `limit` code points. */
export const describeTooLong = (limit: number) => ({
  msg: `must be at most ${limit} characters long`,
  type: "string_too_long",
});

const PATTERN_MESSAGES = new Map([
  [EMAIL_PATTERN, "is not a valid e-mail address"],
  [NEW_EMAIL_PATTERN, "is not a valid e-mail address"],
  [VISIBLE_TEXT_PATTERN, "must contain a visible character, and no U+0000 or lone surrogates"],
  [SEARCHED_EMAIL_PATTERN, "must not be blank or contain a blank; a + must be sent as %2B"],
  [ROLE_PATTERN, "must have 1 to 64 of the characters a to z, 0 to 9, and : _ . -"],
  [
    CLAIM_NAME_PATTERN,
    "is not a name of 1 to 64 of the characters a to z, 0 to 9, and _ . : / - that begins with a letter",
  ],
  [BASE64URL_PATTERN, "is not base64url without padding"],
  [CODE_CHALLENGE_PATTERN, "is not an S256 challenge"],
  [CODE_VERIFIER_PATTERN, "must have 43 to 128 of the characters A to Z, a to z, 0 to 9, and - . _ ~"],
]);

/** Removes the errors that repeat others: those of each type in a union, and those of an object about its members. */
export const withoutRepetitions = (
  errors: readonly TLocalizedValidationError[],
): TLocalizedValidationError[] =>
  errors.filter(
    ({ keyword, schemaPath }) =>
      !schemaPath.includes("/anyOf/") && keyword !== "propertyNames" && keyword !== "additionalProperties",
  );

/**
 * Describes an error that a schema check returned. `msg` continues a sentence that begins with the name of the value. `type`
 * is the stable type of the issue.
 */
export function describeViolation(error: TLocalizedValidationError) {
  switch (error.keyword) {
    case "type": {
      const type = [error.params.type].flat().join();
      return { msg: `must be ${/^[aio]/.test(type) ? "an" : "a"} ${type}`, type: `${type}_type` };
    }
    case "minLength": {
      const { limit } = error.params;
      const msg = limit === 1 ? "must not be empty" : `must be at least ${limit} characters long`;
      return { msg, type: "string_too_short" };
    }
    case "maxLength":
      return describeTooLong(error.params.limit);
    case "pattern": {
      const pattern = String(error.params.pattern);
      const msg = PATTERN_MESSAGES.get(pattern) ?? "must not contain U+0000 or lone surrogates";
      return { msg, type: "string_pattern_mismatch" };
    }
    case "anyOf":
      return {
        msg: "must be a text without U+0000, a finite number, a boolean or an array of these",
        type: "claim_type",
      };
    case "minimum":
      return { msg: `must be at least ${error.params.limit}`, type: "greater_than_equal" };
    case "maximum":
      return { msg: `must be at most ${error.params.limit}`, type: "less_than_equal" };
    default:
      return { msg: error.message, type: error.keyword };
  }
}
