/** The throughput is what the lanes achieve in elapsed time while all are busy. */
import { expect, test } from "bun:test";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { ThroughputMeter } from "../../src/worker/throughput-meter.ts";

/** Slices of 6 ms that advance by a derivation each, at the given interval. */
function run(
  meter: ThroughputMeter,
  options: { slices: number; everyMs: number; isFull: boolean; fromMs?: number },
) {
  const { slices, everyMs, isFull, fromMs = 0 } = options;
  for (let slice = 0; slice < slices; slice++) {
    meter.onSlice({ startedMs: fromMs + slice * everyMs, isFull, iterations: STORED_ITERATIONS });
  }
  meter.stop(fromMs + slices * everyMs);
}

test("is the estimate until all lanes were busy", () => {
  const meter = new ThroughputMeter(50);
  expect(meter.perSecond).toBeCloseTo(50);
  run(meter, { slices: 1000, everyMs: 100, isFull: false });
  expect(meter.perSecond).toBeCloseTo(50);
});

test("follows the achieved throughput: halves within ten seconds if a neighbour takes half of the core, and recovers", () => {
  const meter = new ThroughputMeter(50);
  run(meter, { slices: 3000, everyMs: 10, isFull: true });
  expect(meter.perSecond).toBeCloseTo(100, 1);
  run(meter, { slices: 500, everyMs: 20, isFull: true, fromMs: 30_000 });
  expect(meter.perSecond).toBeLessThan(60);
  run(meter, { slices: 1000, everyMs: 10, isFull: true, fromMs: 40_000 });
  expect(meter.perSecond).toBeGreaterThan(90);
});

test("does not count the time in which the worker is idle", () => {
  const meter = new ThroughputMeter(100);
  for (let burst = 0; burst < 1000; burst++) {
    run(meter, { slices: 2, everyMs: 10, isFull: true, fromMs: burst * 1000 });
  }
  expect(meter.perSecond).toBeCloseTo(100, 0);
});
