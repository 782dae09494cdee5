/**
 * The application's claims of a user: a small, flat JSON object, which only operators write. It has at most 1 KiB, because every
 * token can contain it.
 */
import Type from "typebox";
import type { ValidationIssue } from "./errors.ts";
import { CLAIM_NAME_PATTERN, text } from "./text.ts";

type ClaimValue = string | number | boolean;
export type Claims = Readonly<Record<string, ClaimValue | readonly ClaimValue[]>>;

/** Of the JSON without white space, in UTF-8. */
export const CLAIMS_MAX_BYTES = 1024;

const values = [text({}), Type.Number(), Type.Boolean()];

export const Claims = Type.Unsafe<Claims>({
  type: "object",
  propertyNames: { pattern: CLAIM_NAME_PATTERN },
  additionalProperties: { anyOf: [...values, Type.Array(Type.Union(values))] },
  description: `The application's claims, such as a plan; the service itself ignores them. At most ${CLAIMS_MAX_BYTES} bytes of JSON. A name has 1 to 64 of the characters a to z, 0 to 9, and \`_ . : / -\`, and begins with a letter. A value is a text, a finite number, a boolean or an array of these.`,
  examples: [{ plan: "pro", seats: 5 }],
});

/** Returns the issue of claims that the schema accepts, without the location. */
export const describeTooLarge = (claims: Claims): Pick<ValidationIssue, "msg" | "type"> | null =>
  Buffer.byteLength(JSON.stringify(claims)) > CLAIMS_MAX_BYTES
    ? { msg: `must have at most ${CLAIMS_MAX_BYTES} bytes as JSON`, type: "claims_too_large" }
    : null;

/** Strings in JSON, with the colon if they are names. */
const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** Returns the number of names in valid JSON, also of those that `JSON.parse` replaces because a later one is equal. */
export const countNames = (json: string): number =>
  [...json.matchAll(STRINGS)].filter(([, colon]) => colon !== undefined).length;
