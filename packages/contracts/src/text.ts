/** The text that the service stores: any Unicode scalar values except U+0000, which neither database keeps intact. */
import Type from "typebox";

/** Matches (with the `u` flag) text free of U+0000 and of lone surrogates. */
export const TEXT_PATTERN = "^[^\\u0000\\uD800-\\uDFFF]*$";

/** An e-mail address after trimming and lowercasing; the same exclusions as {@link TEXT_PATTERN}. */
export const EMAIL_PATTERN =
  "^[^\\s@\\u0000\\uD800-\\uDFFF]+@[^\\s@.\\u0000\\uD800-\\uDFFF]+(\\.[^\\s@.\\u0000\\uD800-\\uDFFF]+)+$";

/** A string schema for text; lengths count code points. */
export function text(options: Type.TStringOptions) {
  return Type.String({ pattern: TEXT_PATTERN, ...options });
}

/** A moment as RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: "date-time", description: "RFC 3339, UTC, milliseconds" });
