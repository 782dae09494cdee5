import { describe, expect, test } from "bun:test";
import { isOneOf, normalizeCode } from "../../src/tokens/codes.ts";

const CODE = "01234567";
/** The zeros of Arabic, Persian, Devanagari, full-width and two mathematical scripts, which follow each other. */
const ZEROS = [0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce, 0x1d7f6];
const inScript = (zero: number): string =>
  [...CODE].map((digit) => String.fromCodePoint(zero + Number(digit))).join("");

describe("a code that somebody typed", () => {
  test.each([
    ...["0123 4567", "0123-4567", " 0123\u00a04567\n", "0123\u20134567", "0123\u22124567"],
    ...["\u200e01234567\u200b", "\ufeff0123\u00ad4567", ...ZEROS.map(inScript)],
  ])("is accepted as %j", (typed) => expect(isOneOf(typed, ["99999999", CODE])).toBe(true));

  test.each(["0123.4567", "+01234567", "012345678", "0123456", "", "\u2460\u2461\u2462\u2463", "O1234567"])(
    "is rejected as %j",
    (typed) => expect(isOneOf(typed, [CODE])).toBe(false),
  );

  test("keeps letters, so that no other text becomes a code", () =>
    expect(normalizeCode("abc-DEF 12")).toBe("abcDEF12"));
});
