/** Recovery codes: each replaces a code of the application once. 120 random bits, so a digest without a salt suffices. */
import { createHash, randomBytes } from "node:crypto";
import { toBase32 } from "./totp.ts";

const COUNT = 8;
const BYTES = 15;
const SHAPE = /^[a-z2-7]{24}$/;

/** Returns the digest of a typed recovery code, or null if the text cannot be one. @param typed normalized */
export function recoveryDigestOf(typed: string): string | null {
  const code = typed.toLowerCase();
  return SHAPE.test(code) ? createHash("sha256").update(code).digest("base64url") : null;
}

/** Returns the codes, and what is stored of them. */
export function createRecoveryCodes(): { readonly codes: string[]; readonly stored: string } {
  const codes = Array.from({ length: COUNT }, () => toBase32(randomBytes(BYTES)).toLowerCase());
  return { codes, stored: JSON.stringify(codes.map(recoveryDigestOf)) };
}
