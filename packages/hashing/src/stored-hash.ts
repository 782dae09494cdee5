/** The stored form of a password hash, `<salt>$<digest>`: 32 and 64 lowercase hexadecimal characters. */
import { randomBytes } from "node:crypto";

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
