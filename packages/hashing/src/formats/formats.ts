/** All formats of imported hashes. The prefix of a hash identifies its format. */
import { ARGON2_FORMATS } from "./argon2.ts";
import { BCRYPT_FORMATS } from "./bcrypt.ts";
import { type Format, type LaneHash, type ThreadHash, UnsupportedHash } from "./format.ts";
import { PBKDF2_FORMATS } from "./pbkdf2.ts";
import { SCRYPT_FORMATS } from "./scrypt.ts";

const FORMATS: readonly Format[] = [PBKDF2_FORMATS, BCRYPT_FORMATS, ARGON2_FORMATS, SCRYPT_FORMATS].flat();

const find = (text: string) => FORMATS.find(({ prefix }) => prefix.test(text));

/** @throws UnsupportedHash with the reason */
export function parseImportedHash(text: string): LaneHash | ThreadHash {
  const format = find(text);
  if (format) return format.parse(text);
  throw new UnsupportedHash("The format of the password hash is not supported.");
}

/** Returns the name of the hash's format; `unknown` if no prefix matches. */
export const hashFormat = (text: string): string => find(text)?.name ?? "unknown";
