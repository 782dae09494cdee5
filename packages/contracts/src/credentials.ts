/** The members of bodies by which a user is known, and by which a user proves to be the owner. */
import Type from "typebox";
import * as bounds from "./bounds.ts";
import { EMAIL_PATTERN, NEW_EMAIL_PATTERN, text, VISIBLE_TEXT_PATTERN } from "./text.ts";

export const Email = Type.String({
  pattern: EMAIL_PATTERN,
  maxLength: bounds.EMAIL_MAX_LENGTH,
  description: "Trimmed and lowercased before validation.",
  examples: ["ada@example.com"],
});

/** The address that a user gets. An address that is already stored can be any `Email`. */
export const NewEmail = Type.String({
  pattern: NEW_EMAIL_PATTERN,
  maxLength: bounds.EMAIL_MAX_LENGTH,
  description:
    "Trimmed, lowercased and, if the domain is internationalized, converted to ASCII (`xn--…`) before validation.",
  examples: ["ada@example.com"],
});

export const Username = text({
  pattern: VISIBLE_TEXT_PATTERN,
  minLength: 1,
  maxLength: bounds.USERNAME_MAX_LENGTH,
  examples: ["ada"],
});

export const Password = text({
  minLength: bounds.PASSWORD_MIN_LENGTH,
  maxLength: bounds.PASSWORD_MAX_LENGTH,
  format: "password",
  description:
    "Never trimmed. A login that sends the same characters in another Unicode form succeeds if the form NFC is correct.",
  examples: ["correct horse battery staple"],
});

/** The password of an existing user. It has no bounds, because the bounds apply only to new passwords. */
export const currentPassword = (options: Type.TStringOptions = {}) =>
  text({ format: "password", ...options, examples: ["correct horse battery staple"] });

/** The password of an existing user, or nothing if the user has none and has logged in recently. */
export const RecentPassword = currentPassword({
  description:
    "Required, unless the user has no password. Such a user must have logged in within the last five minutes.",
});

/**
 * Returns the schema with this minimum length of `password`. Returns `body` itself if it has no `password` with a minimum
 * length. The cast is safe because only the value of `minLength` differs.
 */
export function withPasswordMinLength<Schema extends object>(body: Schema, minLength: number): Schema {
  const { properties } = body as { properties?: Record<string, object> };
  if (!properties?.password || !("minLength" in properties.password)) return body;
  return {
    ...body,
    properties: { ...properties, password: { ...properties.password, minLength } },
  } as Schema;
}
