/** A crashed worker is replaced and its jobs run again once; nothing loops or hangs. */
import { describe, expect, test } from "bun:test";
import { WorkerCrashed } from "../../src/errors.ts";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";
import type { JobInput } from "../../src/pool/job.ts";
import type { WorkerSetup } from "../../src/protocol.ts";
import { hex, referenceDigest } from "../support/derivation.ts";
import { testNativeKernels } from "../support/native-kernels.ts";
import { fixtureUrl, openPool } from "../support/open-pool.ts";

const workerUrl = fixtureUrl("crashing-worker.ts");

const job = (password: string, iterations = 1000): JobInput => ({ password, salt: "salt", iterations });
const expected = (password: string, iterations?: number) => referenceDigest(job(password, iterations));

describe("a worker crash", () => {
  test("that happens twice during one job rejects that job with the cause, and jobs that wait meanwhile succeed", async () => {
    await using pool = openPool({ workerUrl });
    await pool.ready();
    expect(pool.stats().capacityPerSecond).toBeGreaterThan(0);
    const crashing = pool.submit(job("crash")).catch((thrown: unknown) => thrown);
    const waiting = ["a", "b", "c"].map((name) => pool.submit(job(name)));
    const error = await crashing;
    expect(error).toMatchObject({ code: "HASH_WORKER_CRASHED", cause: expect.any(Error) });
    // The next worker has not measured yet.
    expect(pool.stats().capacityPerSecond).toBe(0);
    expect((await Promise.all(waiting)).map(hex)).toEqual(["a", "b", "c"].map((name) => expected(name)));
    expect(pool.stats()).toMatchObject({ crashedWorkers: 2, completed: 3 });
  });

  test("is not undone by a late message of the former worker", async () => {
    await using pool = openPool({ workerUrl });
    expect(hex(await pool.submit(job("late message")))).toBe(expected("late message"));
    expect(pool.stats()).toMatchObject({ crashedWorkers: 1, completed: 1 });
  });

  test("is followed by another attempt if the system fails to start a thread", async () => {
    let started = 0;
    const setup: WorkerSetup = {
      nice: 0,
      quota: null,
      /** `new Worker` clones the setup, so an error is thrown there. */
      get kernel() {
        started += 1;
        if (started === 2) throw new Error("no thread");
        return { kind: "portable" } as const;
      },
    };
    await using pool = openPool({ workerUrl, setup });
    expect(hex(await pool.submit(job("crash once")))).toBe(expected("crash once"));
    expect(pool.stats()).toMatchObject({ crashedWorkers: 2, completed: 1 });
  });

  test("during an aborted job does not run the job again", async () => {
    await using pool = openPool({ workerUrl });
    const controller = new AbortController();
    const aborted = pool.submit({ ...job("crash once"), signal: controller.signal });
    controller.abort();
    expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    await pool.submit(job("after"));
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, aborted: 1, completed: 1 });
  });

  test("during close lets all jobs settle, also those of other workers, and close resolves", async () => {
    const pool = openPool({ workerUrl, workers: 2 });
    const results = Promise.allSettled(["crash once", "a", "crash"].map((name) => pool.submit(job(name))));
    await pool.close();
    expect((await results).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0 });
  });

  test("during close resolves ready, although the worker never measures", async () => {
    const pool = openPool({ workerUrl: fixtureUrl("no-such-file.ts") });
    await Promise.all([pool.ready(), pool.close()]);
  });
});

testNativeKernels(
  "a worker crash between two slices runs every job of the worker again and returns its digest with kernel %s",
  async (name) => {
    const { choice, lanes } = chooseKernel(name);
    await using pool = openPool({ lanes, setup: { kernel: choice, nice: 0, quota: null }, workerUrl });
    const passwords = Array.from({ length: lanes + 3 }, (_, index) =>
      index === 0 ? "crash in lane once" : `${index}`,
    );
    const digests = await Promise.all(passwords.map((password) => pool.submit(job(password, 200_000))));
    expect(digests.map(hex)).toEqual(passwords.map((password) => expected(password, 200_000)));
    expect(pool.stats()).toMatchObject({
      crashedWorkers: 1,
      completed: lanes + 3,
      lanesBusy: 0,
      queueLength: 0,
    });
  },
);

test("a worker that cannot start rejects all jobs, backs off between restarts and can be closed", async () => {
  await using pool = openPool({ workerUrl: fixtureUrl("no-such-file.ts"), workers: 2 });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => pool.submit(job("a"))));
  for (const result of results)
    expect(result).toMatchObject({ status: "rejected", reason: expect.any(WorkerCrashed) });
  expect(pool.stats().crashedWorkers).toBeLessThan(20);
  expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, completed: 0 });
});
