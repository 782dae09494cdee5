/** The comparison of model and service, with services that follow a known model. */
import { expect, test } from "bun:test";
import { arrivalTimes } from "../../src/load/arrivals.ts";
import type { Run } from "../../src/measure/results.ts";
import { type RunLoadOptions, WARM_UP_SECONDS } from "../../src/measure/run.ts";
import { createServiceModel, type ServiceModel } from "../../src/plan/service-model.ts";
import { simulate } from "../../src/plan/simulation.ts";
import { type ValidationOptions, validate } from "../../src/plan/validate.ts";
import { describeComparisons } from "../../src/report/plan-text.ts";
import { exampleRun, latencyOf } from "../support/example-run.ts";

const curve = [1, 2, 4, 8, 16, 32].map((concurrency) => ({
  concurrency,
  perSecond: (100 * concurrency) / (concurrency + 4),
}));
const service = createServiceModel({ curve, workers: 2, lanes: 16 });
const slower: ServiceModel = { ...service, laneMs: service.laneMs.map((ms) => 1.12 * ms) };

/** Runs against this model. */
const runModel =
  (truth: ServiceModel, changes: Partial<Run> = {}) =>
  async ({ asked: { load, durationSeconds: countedSeconds, seed } }: RunLoadOptions): Promise<Run> => {
    if (load.kind === "closed") throw new Error("A validation uses an open loop.");
    const durationSeconds = WARM_UP_SECONDS + countedSeconds;
    const arrivals = arrivalTimes({ ...load, durationSeconds, seed });
    const [warmUpMs, endMs] = [1000 * WARM_UP_SECONDS, 1000 * durationSeconds];
    const { latenciesMs, achievedPerSecond } = simulate({ service: truth, arrivals, warmUpMs, endMs });
    const login = {
      sent: latenciesMs.length,
      statuses: { "200": latenciesMs.length },
      connectionErrors: {},
      errors: 0,
      perSecond: achievedPerSecond,
      latency: latencyOf([...latenciesMs]),
    };
    return exampleRun({ all: login, operations: { login }, ...changes });
  };

const options = (run: (options: RunLoadOptions) => Promise<Run>): ValidationOptions => ({
  service,
  url: "http://127.0.0.1:3000",
  durationSeconds: 60,
  seed: 1000,
  run,
});

test("a service that follows the model agrees with it, without error for equal arrivals", async () => {
  const asked: number[] = [];
  const comparisons = await validate({
    ...options(runModel(service)),
    onShare: (sharePercent) => asked.push(sharePercent),
  });
  expect(asked).toEqual([50, 70, 80, 95]);
  for (const { agrees, p99, perSecond } of comparisons) {
    expect(agrees).toBe(true);
    expect(p99.errorPercent).toBeCloseTo(0, 9);
    expect(perSecond.errorPercent).toBeCloseTo(0, 9);
    expect(p99.repeated.low).toBeLessThan(p99.repeated.high);
  }
  const [first = ""] = describeComparisons(comparisons).split("\n").slice(1);
  expect(first).toMatch(
    /^ *50 % +[\d.]+ +[\d.]+ +[\d.]+ +\+0\.0 % +[\d.]+ +[\d.]+ +\+0\.0 % +[\d.]+ to [\d.]+ +agrees$/,
  );
});

test("a service slower than the model differs at high load", async () => {
  const comparisons = await validate(options(runModel(slower)));
  const byShare = Object.fromEntries(comparisons.map((comparison) => [comparison.sharePercent, comparison]));
  expect(byShare[80]?.agrees).toBe(false);
  expect(byShare[80]?.p99.errorPercent).toBeLessThan(-15);
  expect(describeComparisons(comparisons)).toContain("DIFFERS");
});

test("an interrupted run, or a run without logins, is not compared", async () => {
  const nothing = {
    sent: 1,
    statuses: { none: 1 },
    connectionErrors: { reset: 1 },
    errors: 1,
    perSecond: 0,
    latency: null,
  };
  for (const [changes, sentence] of [
    [{ outcome: "interrupted" }, "Interrupted before the comparison."],
    [{ operations: { login: nothing } }, "No login at http://127.0.0.1:3000 succeeded."],
  ] as const) {
    await expect(validate(options(runModel(service, changes)))).rejects.toThrow(sentence);
  }
});

test("an interruption ends the validation with the comparisons that are complete", async () => {
  let runs = 0;
  const complete = runModel(service);
  const interrupted = runModel(service, { outcome: "interrupted" });
  const comparisons = await validate(options((asked) => (++runs < 3 ? complete(asked) : interrupted(asked))));
  expect(comparisons.map(({ sharePercent }) => sharePercent)).toEqual([50, 70]);
});

test("a run with the load generator as the bottleneck is compared with a warning", async () => {
  const { driver } = exampleRun();
  const late = { ...driver, bottleneck: "it was late." };
  const comparisons = await validate(options(runModel(service, { driver: late })));
  expect(comparisons[0]?.agrees).toBe(true);
  expect(describeComparisons(comparisons)).toContain(
    "WARNING: at 50 % the load generator was the bottleneck: it was late.\n",
  );
});
