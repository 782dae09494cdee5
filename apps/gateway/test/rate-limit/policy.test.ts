/** How a quota is written, and how a client reads it. */
import { expect, test } from "bun:test";
import { parseQuota } from "../../src/rate-limit/policy.ts";

test.each([
  ["1/second", { limit: 1, windowMs: 1_000, text: "1 per 1 second" }],
  ["5/minute", { limit: 5, windowMs: 60_000, text: "5 per 1 minute" }],
  ["999999999/hour", { limit: 999_999_999, windowMs: 3_600_000, text: "999999999 per 1 hour" }],
] as const)("%s is a quota", (source, quota) => {
  expect(parseQuota(source)).toEqual(quota);
});

const REFUSED = ["", "5", "/minute", "0/minute", "05/minute", "-1/minute", "1.5/minute", "5/day", "5/Minute"];

test.each([...REFUSED, "5/minutes", "5 / minute", " 5/minute", "5/minute ", "5/minute/hour", "1e3/minute"])(
  "%p is no quota",
  (source) => {
    expect(() => parseQuota(source)).toThrow(RangeError);
  },
);

test.each(["1000000000/hour", "5/constructor", "5/minute\n", "٥/minute"])("nor is %p", (source) => {
  expect(() => parseQuota(source)).toThrow(RangeError);
});
