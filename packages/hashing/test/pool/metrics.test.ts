/** The histogram and the counters that the metrics report. */
import { describe, expect, test } from "bun:test";
import { createHasher } from "../../src/index.ts";
import { Histogram } from "../../src/pool/metrics.ts";

describe("Histogram", () => {
  test("counts cumulatively with inclusive bounds; a value above the last bound is only in count", () => {
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
});

describe("stats", () => {
  test("include every derivation", async () => {
    await using hasher = createHasher({ workers: 1 });
    const job = { password: new Uint8Array(1), salt: new Uint8Array(1) };
    await Promise.all([1, 20, 300].map((iterations) => hasher.derive({ ...job, iterations })));
    const stats = hasher.stats();
    expect(stats).toMatchObject({ workers: 1, completed: 3, iterations: 321, lanesBusy: 0, queueLength: 0 });
    expect(stats.waiting.count).toBe(3);
    expect(stats.running.count).toBe(3);
  });
});
