/** Text: any Unicode except U+0000, which neither database stores correctly. All patterns match in linear time. */
import Type from "typebox";

/** Excludes U+0000 and lone surrogates. Surrogate pairs match, because the validator sets the `u` flag. */
const TEXT_PATTERN = "^[^\\u0000\\uD800-\\uDFFF]*$";

/** Matches an e-mail address that is trimmed and lowercased. Excludes the same characters as `TEXT_PATTERN`. */
export const EMAIL_PATTERN =
  "^[^\\s@\\u0000\\uD800-\\uDFFF]+@[^\\s@.\\u0000\\uD800-\\uDFFF]+(\\.[^\\s@.\\u0000\\uD800-\\uDFFF]+)+$";

/**
 * Matches a new e-mail address: `EMAIL_PATTERN` without control, format and bidi characters, and without characters that some
 * programs read as the end of an address or as a list. Some programs also decode the words of RFC 2047, which contain `=?`.
 */
export const NEW_EMAIL_PATTERN =
  '^(?!.*=\\?)[^\\s@()<>[\\]:;\\\\,"\\p{Cc}\\p{Cf}\\uD800-\\uDFFF]+' +
  '@[^\\s@.()<>[\\]:;\\\\,"\\p{Cc}\\p{Cf}\\uD800-\\uDFFF]+(\\.[^\\s@.()<>[\\]:;\\\\,"\\p{Cc}\\p{Cf}\\uD800-\\uDFFF]+)+$';

/** Empty, or at least one character is visible: neither white space nor a format character. `minLength` excludes the empty text. */
export const VISIBLE_TEXT_PATTERN =
  "^([^\\u0000\\uD800-\\uDFFF]*[^\\s\\p{Cf}\\u0000\\uD800-\\uDFFF][^\\u0000\\uD800-\\uDFFF]*)?$";

/** Blanks around it, but none inside: no stored e-mail contains one, and `+` in a query stands for a blank. */
export const SEARCHED_EMAIL_PATTERN = "^\\s*[^\\s\\u0000\\uD800-\\uDFFF]+\\s*$";

export const ROLE_PATTERN = "^[a-z0-9:_.-]{1,64}$";

export const CLAIM_NAME_PATTERN = "^[a-z][a-z0-9_.:/-]{0,63}$";

/** Without padding (RFC 4648 §5). */
export const BASE64URL_PATTERN = "^[A-Za-z0-9_-]*$";

/** A verifier of PKCE and its S256 challenge (RFC 7636 §4.1, §4.2). */
export const CODE_VERIFIER_PATTERN = "^[A-Za-z0-9._~-]{43,128}$";
export const CODE_CHALLENGE_PATTERN = "^[A-Za-z0-9_-]{43}$";

/** Returns a schema for text. `minLength` and `maxLength` count code points. */
export function text(options: Type.TStringOptions) {
  return Type.String({ pattern: TEXT_PATTERN, ...options });
}

export const Timestamp = Type.String({
  format: "date-time",
  description: "RFC 3339 in UTC with milliseconds",
  examples: ["2026-01-31T10:20:30.123Z"],
});

/** Returns null if the percent-encoding is invalid. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
