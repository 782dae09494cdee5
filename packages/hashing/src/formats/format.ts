/** Shared code for the hash formats of other systems. Parsers reject every hash on which the verifier would fail. */
import { timingSafeEqual } from "node:crypto";

/** A PBKDF2-HMAC-SHA256 hash. Its verification runs in a lane. */
export interface LaneHash {
  readonly runsIn: "lane";
  readonly salt: string | Uint8Array;
  readonly iterations: number;
  /** The first 16 to 32 bytes of the derived key. */
  readonly key: Uint8Array;
}

/** Any other hash. Its verification runs in a thread of the runtime's pool. */
export interface ThreadHash {
  readonly runsIn: "thread";
  /**
   * The estimated processor time, in units of one PBKDF2-HMAC-SHA256 iteration in busy AVX-512 lanes;
   * test/formats/costs.test.ts compares all estimates with measurements.
   */
  readonly iterations: number;
  readonly memoryBytes: number;
  verify(password: string): Promise<boolean>;
}

export interface Format {
  /** The format's label in metrics and reports. */
  readonly name: string;
  readonly prefix: RegExp;
  /** @throws UnsupportedHash */
  parse(text: string): LaneHash | ThreadHash;
}

/** The hash cannot be verified. The error message contains no part of the hash. */
export class UnsupportedHash extends Error {
  override readonly name = "UnsupportedHash";
}

/** The maximum memory of all verifications that run at the same time: 128 MiB that the hashes specify and 1 MiB of overhead. */
export const MAX_MEMORY_BYTES = 129 * 1024 * 1024;
/** The fixed cost of each verification in a thread. */
const ITERATIONS_PER_THREAD_HASH = 800;

export const createThreadHash = (hash: Omit<ThreadHash, "runsIn">): ThreadHash => ({
  ...hash,
  runsIn: "thread",
  iterations: hash.iterations + ITERATIONS_PER_THREAD_HASH,
});

/** Returns the captured groups. @throws UnsupportedHash if the text does not match */
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

/** Returns the key. @throws UnsupportedHash if its length is not from 16 to 128 bytes */
export function checkedKey(key: Buffer): Buffer {
  bounded("The length of the key in bytes", key.length, 128, 16);
  return key;
}

/** Returns whether the derived bytes begin with the key. */
export const startsWith = (derived: Uint8Array, key: Uint8Array): boolean =>
  derived.length >= key.length && timingSafeEqual(derived.subarray(0, key.length), key);
