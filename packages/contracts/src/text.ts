/** Text: any Unicode characters except U+0000, which neither database stores correctly. All patterns are linear. */
import Type from "typebox";

/** With the `u` flag: no U+0000 and no lone surrogates. */
const TEXT_PATTERN = "^[^\\u0000\\uD800-\\uDFFF]*$";

/** A trimmed and lowercased e-mail address, with the same exclusions. */
export const EMAIL_PATTERN =
  "^[^\\s@\\u0000\\uD800-\\uDFFF]+@[^\\s@.\\u0000\\uD800-\\uDFFF]+(\\.[^\\s@.\\u0000\\uD800-\\uDFFF]+)+$";

/** Without padding (RFC 4648 §5). */
export const BASE64URL_PATTERN = "^[A-Za-z0-9_-]*$";

/** A schema for text; lengths are counted in code points. */
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
