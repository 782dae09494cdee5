/** The cursor of a page: URL-safe base64 (RFC 4648 §5) of `{"id":<last id>}`, with padding. */
import { CursorPayload } from "@latchkey/contracts";
import { Compile } from "typebox/compile";

const payload = Compile(CursorPayload);

export const encodeCursor = (id: number): string => encode(Buffer.from(JSON.stringify({ id })));

/** The id to list after, or null if `cursor` is malformed; padding is all there or missing. */
export function decodeCursor(cursor: string): number | null {
  const bytes = Buffer.from(cursor, "base64url");
  // Decoding passes over what is no base64; what is malformed does not come out the same again.
  const canonical = encode(bytes);
  if (cursor !== canonical && cursor !== canonical.replaceAll("=", "")) return null;
  try {
    const decoded: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return payload.Check(decoded) ? decoded.id : null;
  } catch {
    return null;
  }
}

const encode = (bytes: Buffer): string => bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
