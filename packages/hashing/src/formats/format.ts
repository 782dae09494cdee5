/** What the formats of other systems' hashes share. Parsers check everything: verifiers cannot fail on their input. */
import { timingSafeEqual } from "node:crypto";

/** PBKDF2-HMAC-SHA256, which runs in a lane. */
export interface LaneHash {
  readonly runsIn: "lane";
  readonly salt: string | Uint8Array;
  readonly iterations: number;
  /** 16 to 32 bytes: the beginning of the derived key. */
  readonly key: Uint8Array;
}

/** Any other hash, which runs in a thread of the runtime's pool. */
export interface ThreadHash {
  readonly runsIn: "thread";
  /**
   * The estimated processor time, as PBKDF2-HMAC-SHA256 iterations in busy lanes of AVX-512; test/formats/costs.test.ts
   * compares all estimates with measurements.
   */
  readonly iterations: number;
  readonly memoryBytes: number;
  verify(password: string): Promise<boolean>;
}

export interface Format {
  /** The value of labels in metrics and reports. */
  readonly name: string;
  readonly prefix: RegExp;
  /** @throws UnsupportedHash */
  parse(text: string): LaneHash | ThreadHash;
}

/** A hash that cannot be verified; the message contains no part of it. */
export class UnsupportedHash extends Error {
  override readonly name = "UnsupportedHash";
}

/** The maximum memory of all verifications that run at the same time: 128 MiB as hashes state it, and their overhead. */
export const MAX_MEMORY_BYTES = 129 * 1024 * 1024;
/** What every verification in a thread costs. */
const ITERATIONS_PER_THREAD_HASH = 800;

export const createThreadHash = (hash: Omit<ThreadHash, "runsIn">): ThreadHash => ({
  ...hash,
  runsIn: "thread",
  iterations: hash.iterations + ITERATIONS_PER_THREAD_HASH,
});

/** Returns the groups of the pattern. @throws UnsupportedHash */
export function match(text: string, pattern: RegExp): string[] {
  const groups = pattern.exec(text);
  if (!groups) throw new UnsupportedHash("The password hash is malformed.");
  return groups.slice(1);
}

/** @throws UnsupportedHash */
export function bounded(name: string, value: string | number, max: number, min = 1): number {
  const number = Number(value);
  if (number >= min && number <= max) return number;
  throw new UnsupportedHash(`${name} must be ${min === max ? max : `from ${min} to ${max}`}.`);
}

/** Base64 with or without padding; passlib writes `.` instead of `+`. */
export const fromBase64 = (text: string): Buffer => Buffer.from(text.replaceAll(".", "+"), "base64");
export const fromHex = (text: string): Buffer => Buffer.from(text, "hex");

/** Returns a key that is long enough to be compared. @throws UnsupportedHash */
export function checkedKey(key: Buffer): Buffer {
  bounded("The length of the key in bytes", key.length, 128, 16);
  return key;
}

/** Whether the derived bytes begin with the key. */
export const startsWith = (derived: Uint8Array, key: Uint8Array): boolean =>
  derived.length >= key.length && timingSafeEqual(derived.subarray(0, key.length), key);
