/** The signing key: what a production key must be, and the one that is made for a database in a file. */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AUTH_ALGORITHMS } from "./environment.ts";

export type AuthAlgorithm = (typeof AUTH_ALGORITHMS)[number];

/** RFC 7518 §3.2: a key of at least the size of the hash output. */
const MIN_BYTES: Record<AuthAlgorithm, number> = { HS256: 32, HS384: 48, HS512: 64 };
const MIN_DISTINCT_CHARACTERS = 8;
const PLACEHOLDERS = ["changeme", "change-me", "your-secret", "replace-me", "example"];

/** Says what makes `key` a weak one, or null; the key itself is never part of the answer. */
export function weaknessOf(key: string, algorithm: AuthAlgorithm): string | null {
  if (Buffer.byteLength(key) < MIN_BYTES[algorithm]) {
    return `is shorter than the ${MIN_BYTES[algorithm]} bytes that ${algorithm} asks for`;
  }
  if (new Set(key).size < MIN_DISTINCT_CHARACTERS) {
    return `has fewer than ${MIN_DISTINCT_CHARACTERS} distinct characters`;
  }
  const lower = key.toLowerCase();
  return PLACEHOLDERS.some((word) => lower.includes(word)) ? "looks like a placeholder" : null;
}

/**
 * Reads the key kept in `path`, making it first if it is not there. The file appears whole and exclusively
 * (written aside, then linked), so of several processes that start at once all use the same key.
 * @throws if the file or its folder cannot be used, or the file is empty
 */
export function readOrCreateSecretKey(path: string): string {
  const existing = readIfThere(path);
  if (existing !== null) return existing;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.secret-key-${crypto.randomUUID()}`);
  writeFileSync(draft, Buffer.from(crypto.getRandomValues(new Uint8Array(64))).toString("base64url"), {
    mode: 0o600,
    flag: "wx",
  });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readKey(path);
}

/** Without the line end that an editor may have put there. */
function readKey(path: string): string {
  const key = readFileSync(path, "utf8").replace(/\r?\n$/, "");
  if (key === "") throw new Error(`${path} is empty`);
  return key;
}

function readIfThere(path: string): string | null {
  try {
    return readKey(path);
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
