/** The search for the highest rate within a latency bound. */
import { expect, test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { findCapacity, ratesToTry, type SearchStep } from "../../src/capacity/find-capacity.ts";
import { withUsers } from "../../src/load/prepare-requests.ts";
import { startFakeService } from "../support/fake-service.ts";
import { LIMITS, runOptionsOf } from "../support/run-options.ts";

/** Tries rates until the search ends. */
function search(best: number, passes: (rate: number, attempt: number) => boolean) {
  const rates = ratesToTry(best);
  const tried = [];
  for (let next = rates.next(); !next.done; ) {
    const passed = passes(next.value.ratePerSecond, next.value.attempt);
    tried.push({ ...next.value, passed });
    next = rates.next(passed);
  }
  const highest = Math.max(0, ...tried.flatMap(({ passed, ratePerSecond }) => (passed ? ratePerSecond : [])));
  return { tried, highest };
}

test.each([20, 80, 93, 110, 300])(
  "with a capacity of %d/s the search ends at most 3 % below it",
  (capacity) => {
    const { tried, highest } = search(100, (rate) => rate <= capacity);
    expect(highest).toBeLessThanOrEqual(capacity);
    expect(highest).toBeGreaterThan(capacity / 1.03);
    expect(tried.filter(({ attempt }) => attempt === 1).length).toBeLessThanOrEqual(10);
  },
);

test("a rate that fails is repeated once, so that a single disturbance does not determine the capacity", () => {
  const undisturbed = search(100, (rate) => rate <= 93);
  const disturbed = search(100, (rate, attempt) => attempt === 2 && rate <= 93);
  expect(disturbed.highest).toBe(undisturbed.highest);
  for (const [index, { passed, attempt, ratePerSecond }] of undisturbed.tried.entries()) {
    const next = undisturbed.tried[index + 1];
    expect(next?.ratePerSecond === ratePerSecond).toBe(!passed && attempt === 1);
  }
});

test("the search ends after ten rates even if none passes", () => {
  expect(search(100, () => false)).toMatchObject({ highest: 0, tried: { length: 20 } });
});

inFullRun(test)("a service that rejects logins above a rate has this rate as its capacity", async () => {
  // Of constant arrivals, the number depends on the rate alone, and not on how fast this machine is: 60 at 50/s.
  let remaining = Number.POSITIVE_INFINITY;
  const logIn = async () => {
    const status = --remaining >= 0 ? 200 : 503;
    // A run tolerates more responses after its end if they take longer.
    await Bun.sleep(100);
    return status;
  };
  await using service = startFakeService({ logIn });
  const steps: SearchStep[] = [];
  const asked = runOptionsOf({ url: service.url, durationSeconds: 1 });
  const onStep = (step: SearchStep) => {
    steps.push(step);
    remaining = 60;
  };
  const changes = { asked, p99BoundMs: 5000, arrivals: "constant", warmUpSeconds: 0.2, onStep } as const;
  const options = { ...LIMITS, ...changes };
  const report = await withUsers(options, (next) => findCapacity({ ...options, next }));
  expect(report).toMatchObject({ outcome: "complete", url: service.url, cores: null, p99BoundMs: 5000 });
  const highest = report.steps.findLast(({ passed }) => passed);
  expect(highest?.ratePerSecond).toBeWithin(45, 53);
  expect(report.loginsPerSecond).toBe(highest?.achievedPerSecond ?? 0);
  const rejected = report.steps.filter(({ attempt }) => attempt === 2).map(({ shed }) => shed > 0);
  expect(rejected).toContain(true);
  expect(steps).toEqual([expect.objectContaining({ clients: 48 }), ...report.steps]);
});
