/** The histogram and the counters that the metrics report. */
import { expect, test } from "bun:test";
import { Histogram } from "../../src/pool/metrics.ts";

test("Histogram counts cumulatively with inclusive bounds; a value above the last bound is only in count", () => {
  const histogram = new Histogram();
  for (const seconds of [0, 0.005, 0.006, 10, 11]) histogram.observe(seconds);
  const { bounds, counts, sum, count } = histogram.snapshot();
  expect(counts).toHaveLength(bounds.length);
  expect(counts[0]).toBe(2);
  expect(counts[1]).toBe(3);
  expect(counts.at(-1)).toBe(4);
  expect(count).toBe(5);
  expect(sum).toBeCloseTo(21.011);
});
