/** The cursor of a page: URL-safe base64 (RFC 4648 §5) of `{"id":<last id>}`, with padding. */
import { CursorPayload } from "@latchkey/contracts";
import { Compile } from "typebox/compile";

const payload = Compile(CursorPayload);
const ENCODED = /^[A-Za-z0-9_-]+={0,2}$/;

export function encodeCursor(id: number): string {
  return Buffer.from(JSON.stringify({ id })).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

/** The id to list after, or null if `cursor` is malformed; padding may be missing. */
export function decodeCursor(cursor: string): number | null {
  if (!ENCODED.test(cursor)) return null;
  try {
    const decoded: unknown = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(cursor, "base64url")),
    );
    return payload.Check(decoded) ? decoded.id : null;
  } catch {
    return null;
  }
}
