/** The search for the highest rate within a latency bound, against a service with a known capacity. */
import { expect, test } from "bun:test";
import { findCapacity } from "../../src/capacity/find-capacity.ts";
import type { ServerFigures } from "../../src/measure/results.ts";
import { startFakeService } from "../support/fake-service.ts";
import { runOptionsOf } from "../support/run-options.ts";

const COST_MS = 10;
const QUEUE_LIMIT = 20;

/** One lane and a bounded queue, as in the hashing core. */
function createLane() {
  let last = Promise.resolve();
  let waiting = 0;
  return async (): Promise<number> => {
    if (waiting > QUEUE_LIMIT) return 503;
    waiting += 1;
    last = last.then(() => Bun.sleep(COST_MS));
    await last;
    waiting -= 1;
    return 200;
  };
}

const SERVER: ServerFigures = {
  kernel: "portable",
  workers: 2,
  lanes: 2,
  lanesBusy: 1,
  queueLength: 0,
  capacityPerSecond: 100,
};
const metrics = { current: () => SERVER, peak: () => SERVER, stop: () => {} };

test("the search ends between a rate that passes and a rate that fails, with a sentence", async () => {
  await using service = startFakeService({ logIn: createLane() });
  const report = await findCapacity({
    asked: runOptionsOf({ url: service.url }),
    p99BoundMs: 150,
    warmUpSeconds: 0.2,
    concurrencies: [1, 4],
    metrics,
  });
  const passed = report.steps.filter((step) => step.passed).sort((a, b) => b.ratePerSecond - a.ratePerSecond);
  const failed = report.steps.filter((step) => !step.passed).map(({ ratePerSecond }) => ratePerSecond);
  expect(passed[0]?.ratePerSecond).toBeLessThan(Math.min(...failed));
  expect(report.loginsPerSecond).toBe(passed[0]?.achievedPerSecond ?? Number.NaN);
  expect(report.curve.map(({ concurrency }) => concurrency)).toEqual([1, 4]);
  expect(report).toMatchObject({ cores: 2, lanes: 2, kernel: "portable", p99BoundMs: 150, url: service.url });
  expect(report.shareOfRaw).toBeCloseTo(report.loginsPerSecond / 100, 5);
  expect(report.sentence).toMatch(
    /^This machine handles [\d.]+ logins\/s with p99 at \d+ ms \(bound 150 ms\): [\d.]+ per core on 2 hash workers with the portable kernel, \d+ % of the raw capacity of the hashing core, 100\.0\/s/,
  );
}, 60_000);
