/** Latency percentiles and their precision. */
import { expect, test } from "bun:test";
import { LatencyHistogram } from "../../src/measure/histogram.ts";

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
/** Three significant digits. */
const near = (value: number | null | undefined, expected: number): void => {
  expect(Math.abs((value ?? Number.NaN) - expected) / expected).toBeLessThan(0.001);
};

test("percentiles are nearest ranks with three significant digits; the maximum is exact", () => {
  const latency = histogramOf(upTo(10_000)).summary();
  near(latency?.p50, 5000);
  near(latency?.p95, 9500);
  near(latency?.p99, 9900);
  near(latency?.mean, 5000.5);
  expect(latency).toMatchObject({ count: 10_000, max: 10_000 });
});

test("a histogram without values has no summary", () => {
  expect(histogramOf([]).summary()).toBeNull();
});
