/** The cursor of a page: URL-safe base64 (RFC 4648 §5) of `{"id":<last id>}`, with padding. */
import { CursorPayload } from "@latchkey/contracts";
import { Compile } from "typebox/schema";
import { readJsonMembers } from "./json.ts";

const payload = Compile(CursorPayload);

export const encodeCursor = (id: number): string => encode(Buffer.from(JSON.stringify({ id })));

/** Returns the id in the cursor, or null if the cursor is malformed. Padding can be complete or absent. */
export function decodeCursor(cursor: string): number | null {
  const bytes = Buffer.from(cursor, "base64url");
  // Decoding ignores invalid characters. Encoding the bytes again returns the same text only if the cursor is well-formed.
  const canonical = encode(bytes);
  if (cursor !== canonical && cursor !== canonical.replaceAll("=", "")) return null;
  try {
    const decoded = readJsonMembers(new TextDecoder("utf-8", { fatal: true }).decode(bytes), ["id"]);
    return payload.Check(decoded) ? decoded.id : null;
  } catch {
    return null;
  }
}

const encode = (bytes: Buffer): string => bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
