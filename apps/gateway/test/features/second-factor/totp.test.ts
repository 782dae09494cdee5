import { describe, expect, test } from "bun:test";
import { findStep, stepAt, toBase32, totpOf, totpUri } from "../../../src/features/second-factor/totp.ts";

/** RFC 6238, Appendix B: the times in seconds, and the last six of the eight digits with SHA-1. */
const VECTORS = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;
const SECRET = Buffer.from("12345678901234567890");
const NOW = 1_234_567_890_000;

describe("a code of the application", () => {
  test.each(VECTORS)("at second %d is the one of RFC 6238", (seconds, code) =>
    expect(totpOf(SECRET, stepAt(seconds * 1000))).toBe(code),
  );

  test("is accepted one step before and after, and further ones are only named", () => {
    const stepsLate = (late: number) => findStep(SECRET, totpOf(SECRET, stepAt(NOW) - late), NOW);
    for (const late of [-1, 0, 1])
      expect(stepsLate(late)).toEqual({ step: stepAt(NOW) - late, stepsLate: late });
    for (const late of [-10, -2, 2, 10]) expect(stepsLate(late)).toEqual({ step: null, stepsLate: late });
    expect(stepsLate(11)).toEqual({ step: null, stepsLate: undefined });
  });
});

test("base32 is that of RFC 4648, without padding", () =>
  expect(
    ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map((text) => toBase32(Buffer.from(text))),
  ).toEqual([...["", "MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"]]));

test("a name with colons, blanks and umlauts stays one issuer", () => {
  const { pathname, searchParams } = new URL(totpUri("ABC", "Müller: Söhne", "ada@example.com"));
  expect(decodeURIComponent(pathname)).toBe("/Müller  Söhne:ada@example.com");
  expect(searchParams.get("issuer")).toBe("Müller  Söhne");
});
