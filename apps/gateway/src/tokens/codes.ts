/** Codes of digits that people read and type: made from a MAC, and compared in constant time. */
import { timingSafeEqual } from "node:crypto";

/** What people, mail programs and keyboards put into a code: white space, format characters, hyphens and the minus sign. */
const SEPARATORS = /[\s\p{Cf}\p{Pd}\u2212]/gu;
const DECIMAL_DIGIT = /\p{Nd}/gu;
const isDecimalDigit = (codePoint: number): boolean => /\p{Nd}/u.test(String.fromCodePoint(codePoint));

/** Unicode stores the ten digits of a script one after another, from zero. Some scripts follow each other without a gap. */
function digitValue(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let first = codePoint;
  while (isDecimalDigit(first - 1)) first -= 1;
  return String((codePoint - first) % 10);
}

/** Returns the code with ASCII digits and without separators. All other characters stay, so that no other code becomes valid. */
export const normalizeCode = (code: string): string =>
  code.replaceAll(SEPARATORS, "").replaceAll(DECIMAL_DIGIT, digitValue);

/** @param mac of at least eight bytes */
export const truncatedCode = (mac: Buffer, digits: number): string =>
  String(mac.readBigUInt64BE() % 10n ** BigInt(digits)).padStart(digits, "0");

/** Whether `typed` is one of the codes. Every code is compared, so the time does not depend on which one it is. */
export function isOneOf(typed: string, codes: readonly string[]): boolean {
  const given = Buffer.from(normalizeCode(typed));
  const matches = codes
    .map((code) => Buffer.from(code))
    .filter((code) => code.length === given.length && timingSafeEqual(code, given));
  return matches.length > 0;
}
