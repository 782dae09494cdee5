/** Latency percentiles and their precision. */
import { expect, test } from "bun:test";
import { latencyOf } from "../support/example-run.ts";

test("percentiles are nearest ranks with three significant digits; the maximum is exact", () => {
  const latency = latencyOf(Array.from({ length: 10_000 }, (_, index) => index + 1));
  expect(latency).toMatchObject({ count: 10_000, max: 10_000 });
  expect(latency?.p50).toBeWithin(4995, 5005);
  expect(latency?.p95).toBeWithin(9490.5, 9509.5);
  expect(latency?.p99).toBeWithin(9890.1, 9909.9);
  expect(latency?.mean).toBeWithin(4995.5, 5005.5);
});
