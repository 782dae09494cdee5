/** Codes of an application that depend on the time (TOTP, RFC 6238), and the texts from which applications read the secret. */
import { createHmac, timingSafeEqual } from "node:crypto";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** The application's clock can differ, and the user needs time to type: one step before and after. */
const ACCEPTED_STEPS = 1;
/** A code that is further off is reported, because the clock of the application or of the service is wrong. */
const REPORTED_STEPS = 10;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** 160 bits, as RFC 4226 §4 recommends. */
export const SECRET_BYTES = 20;

/** @returns RFC 4648 §6 without padding */
export function toBase32(bytes: Uint8Array): string {
  let [bits, buffered, text] = [0, 0, ""];
  for (const byte of bytes) {
    buffered = (buffered << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(buffered >> (bits - 5)) & 31];
    buffered &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(buffered << (5 - bits)) & 31];
}

export const stepAt = (timeMs: number): number => Math.floor(timeMs / 1000 / STEP_SECONDS);

/** RFC 4226 §5.3, with SHA-1: the only algorithm that every application supports. */
export function totpOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, "0");
}

/**
 * Finds the time step of a code. `stepsLate` is negative for a code of the future, and undefined if the code belongs to no step in
 * question. Computes all codes, so the time does not depend on which one matches.
 */
export function findStep(
  secret: Uint8Array,
  code: string,
  timeMs: number,
): { readonly step: number | null; readonly stepsLate: number | undefined } {
  const given = Buffer.from(code);
  const now = stepAt(timeMs);
  let stepsLate: number | undefined;
  for (let late = -REPORTED_STEPS; late <= REPORTED_STEPS; late++) {
    const expected = Buffer.from(totpOf(secret, now - late));
    const isCloser = stepsLate === undefined || Math.abs(late) < Math.abs(stepsLate);
    if (given.length === expected.length && timingSafeEqual(given, expected) && isCloser) stepsLate = late;
  }
  const isAccepted = stepsLate !== undefined && Math.abs(stepsLate) <= ACCEPTED_STEPS;
  return { step: isAccepted ? now - (stepsLate ?? 0) : null, stepsLate };
}

/** The Key URI Format of applications. Colons separate the issuer from the account, so neither may contain one. */
export function totpUri(secret: string, issuer: string, account: string): string {
  const [by, of] = [issuer, account].map((text) => encodeURIComponent(text.replaceAll(":", " ")));
  return `otpauth://totp/${by}:${of}?secret=${secret}&issuer=${by}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}
