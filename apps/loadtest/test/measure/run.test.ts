/** Runs against a service with a known stall, by a load generator that is late, and with many pending requests. */
import { expect, test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { startFakeService } from "../support/fake-service.ts";
import { runOptionsOf, runWithUsers } from "../support/run-options.ts";

const STALL_MS = 300;
const load = { kind: "open", ratePerSecond: 100, arrivals: "constant" } as const;

/** Delays all responses once, from the request with this number on. */
function stallAt(number: number) {
  let count = 0;
  let over: Promise<void> | undefined;
  return (path: string): Promise<void> | undefined => {
    if (path === "/auth/login" && ++count === number) over = Bun.sleep(STALL_MS);
    return over;
  };
}

test("an open loop counts from the intended start, so a stall affects all requests due during it", async () => {
  await using service = startFakeService({ beforeResponse: stallAt(60) });
  const run = await runWithUsers({ asked: runOptionsOf({ url: service.url, load }), warmUpSeconds: 0.2 });
  expect(run.all).toMatchObject({ sent: 100, statuses: { "200": 100 }, errors: 0 });
  const { latency } = run.all;
  // 30 of 100 were due during the stall and waited for its end: the median half of it, the first one all of it.
  expect(latency?.max).toBeGreaterThanOrEqual(STALL_MS - 20);
  expect(latency?.p95).toBeGreaterThan(0.6 * STALL_MS);
  expect(latency?.p90).toBeGreaterThan(STALL_MS / 2);
  expect(run.probe.latency?.max).toBeGreaterThan(STALL_MS / 2);
  expect(run.overloaded).toBe(false);
});

inFullRun(test)(
  "a load generator that is late counts from the intended start and reports its lateness",
  async () => {
    await using service = startFakeService();
    const run = await runWithUsers({
      asked: runOptionsOf({ url: service.url, load, durationSeconds: 2 }),
      warmUpSeconds: 0.2,
      onSecond: ({ elapsedSeconds }) => elapsedSeconds < 1.9 && Bun.sleepSync(STALL_MS),
    });
    const lateness = run.driver.lateness?.max ?? 0;
    expect(lateness).toBeGreaterThan(STALL_MS / 2);
    expect(run.all.latency?.max).toBeGreaterThanOrEqual(lateness);
    expect(run.driver.bottleneck).toMatch(/^Other processes delayed the load generator: /);
    // Late requests count in the second of their intended start.
    expect(run.seconds.map(({ second }) => second)).toEqual([0, 1]);
    expect(run.seconds.reduce((sum, { offered }) => sum + offered, 0)).toBe(run.all.sent);
  },
);

test("more requests are pending concurrently than other clients allow", async () => {
  let pending = 0;
  const most = Promise.withResolvers<void>();
  await using service = startFakeService({
    async logIn() {
      // All wait for the last, which is sent only if no request blocks another.
      if (++pending === 400) most.resolve();
      // The preparation sends the first login.
      if (pending > 1) await most.promise;
      return 200;
    },
  });
  const asked = runOptionsOf({ url: service.url, load: { ...load, ratePerSecond: 400 } });
  const run = await runWithUsers({ asked, warmUpSeconds: 0.1 });
  expect(run.all).toMatchObject({ sent: 400, statuses: { "200": 400 }, errors: 0 });
});
