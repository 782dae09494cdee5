/** The search for the highest rate within a latency bound, against a service with a known capacity. */
import { expect, test } from "bun:test";
import { findCapacity, type SearchProgress } from "../../src/capacity/find-capacity.ts";
import type { ServerFigures } from "../../src/measure/results.ts";
import { startFakeService } from "../support/fake-service.ts";
import { runOptionsOf } from "../support/run-options.ts";

const COST_MS = 10;
const QUEUE_LIMIT = 20;

/** One lane and a bounded queue, as in the hashing core. */
function createLane({ queueLimit = QUEUE_LIMIT } = {}) {
  let last = Promise.resolve();
  let waiting = 0;
  return async (): Promise<number> => {
    if (waiting > queueLimit) return 503;
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

const OPTIONS = { p99BoundMs: 150, arrivals: "poisson", warmUpSeconds: 0.2, concurrencies: [1, 4] } as const;

test.concurrent("the search ends between a rate that passes and a rate that fails, with a sentence", async () => {
  await using service = startFakeService({ logIn: createLane() });
  const progress: SearchProgress[] = [];
  const report = await findCapacity({
    ...OPTIONS,
    asked: runOptionsOf({ url: service.url }),
    metrics,
    onProgress: (each) => progress.push(each),
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
  for (const { passed, attempts } of report.steps) expect(passed || attempts === 2).toBe(true);
  // The estimates end at 0.
  expect(progress[0]).toMatchObject({ done: 0, completed: null });
  expect(progress.at(-1)).toMatchObject({ done: 2 + report.steps.length, completed: report.steps.at(-1) });
  expect(progress.at(-1)?.remaining).toEqual({ steps: 0, seconds: 0 });
}, 60_000);

test.concurrent("a failed rate is repeated once, so that a single disturbance does not determine the capacity", async () => {
  const logIn = createLane();
  let isDisturbed = false;
  await using service = startFakeService({
    logIn: (): Promise<number> | number => (isDisturbed ? 503 : logIn()),
  });
  const attempts: boolean[] = [];
  const end = new AbortController();
  const report = await findCapacity({
    ...OPTIONS,
    signal: end.signal,
    asked: runOptionsOf({ url: service.url }),
    onProgress({ completed }) {
      if (completed === null) return;
      // The last point of the curve and the first run of the first rate: only this run is disturbed.
      isDisturbed = "concurrency" in completed && completed.concurrency === 4;
      if ("attempts" in completed) attempts.push(completed.passed);
      if (attempts.length === 2) end.abort();
    },
  });
  expect(attempts).toEqual([false, true]);
  expect(report.steps).toEqual([expect.objectContaining({ passed: true, attempts: 2, shed: 0 })]);
}, 60_000);

test.concurrent("a rate that fails twice has the figures of the better run", async () => {
  const logIn = createLane();
  let isDisturbed = false;
  await using service = startFakeService({
    logIn: (): Promise<number> | number => (isDisturbed ? 503 : logIn()),
  });
  const end = new AbortController();
  const report = await findCapacity({
    ...OPTIONS,
    p99BoundMs: 1,
    signal: end.signal,
    asked: runOptionsOf({ url: service.url }),
    onProgress({ completed }) {
      if (completed === null || !("attempts" in completed)) return;
      isDisturbed = true;
      if (completed.attempts === 2) end.abort();
    },
  });
  expect(report.steps).toEqual([expect.objectContaining({ passed: false, attempts: 2, shed: 0 })]);
}, 60_000);

test.concurrent("a rate passes only if it is answered, whatever the bound on the latency", async () => {
  await using service = startFakeService({ logIn: createLane({ queueLimit: Number.POSITIVE_INFINITY }) });
  const end = new AbortController();
  const report = await findCapacity({
    ...OPTIONS,
    asked: runOptionsOf({ url: service.url, durationSeconds: 2 }),
    p99BoundMs: 60_000,
    arrivals: "constant",
    signal: end.signal,
    onProgress({ completed }) {
      if (completed !== null && "attempts" in completed && completed.attempts === 2) end.abort();
    },
  });
  expect(report.steps.at(-1)).toMatchObject({ passed: false, overloaded: true, errors: 0, shed: 0 });
  expect(report.loginsPerSecond).toBeLessThan(1000 / COST_MS);
}, 60_000);
