/** The stored form of a password hash, `<salt>$<digest>`: 32 and 64 lowercase hexadecimal characters. */
import { createHash, randomBytes } from "node:crypto";

/** PBKDF2 iterations of a stored hash (OWASP Password Storage Cheat Sheet: PBKDF2-HMAC-SHA256, 600,000). */
export const STORED_ITERATIONS = 600_000;

const SALT_BYTES = 16;
const STORED_FORM = /^([0-9a-f]{32})\$([0-9a-f]{64})$/;

export interface StoredHash {
  /** The UTF-8 bytes of this text are the PBKDF2 salt; the text is never decoded. */
  readonly salt: string;
  /** 32 bytes. */
  readonly digest: Uint8Array;
}

export function createSalt(): string {
  return randomBytes(SALT_BYTES).toString("hex");
}

export function formatStoredHash({ salt, digest }: StoredHash): string {
  return `${salt}$${Buffer.from(digest).toString("hex")}`;
}

/** Returns null if the text does not have the stored form. */
export function parseStoredHash(stored: string): StoredHash | null {
  const [, salt, digest] = STORED_FORM.exec(stored) ?? [];
  if (salt === undefined || digest === undefined) return null;
  return { salt, digest: Buffer.from(digest, "hex") };
}

/** The salt identifies a password: a new password gets a new salt, but a hash that replaces an imported hash keeps the salt. */
export const saltOf = (stored: string): string => stored.slice(0, 2 * SALT_BYTES);

/**
 * Returns the stored hash of a user with an imported hash. Its digest is the SHA-256 of the salt and the imported hash, so no
 * password matches. If a release that does not know imported hashes changes the password, it replaces only the stored hash. The
 * imported hash then no longer belongs to the stored hash and is invalid.
 */
export function bindImportedHash(imported: string): string {
  const salt = createSalt();
  return formatStoredHash({ salt, digest: bindingDigest(salt, imported) });
}

/** Returns the imported hash if it belongs to the stored hash, otherwise null. */
export function boundImportedHash({
  hashedPassword,
  importedHash,
}: {
  readonly hashedPassword: string;
  readonly importedHash: string | null;
}): string | null {
  if (importedHash === null) return null;
  const parsed = parseStoredHash(hashedPassword);
  if (parsed === null) return null;
  return bindingDigest(parsed.salt, importedHash).equals(parsed.digest) ? importedHash : null;
}

export const isStoredHash = (text: string): boolean => parseStoredHash(text) !== null;

const bindingDigest = (salt: string, imported: string): Buffer =>
  createHash("sha256").update(salt).update(imported).digest();
