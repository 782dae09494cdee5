/** Verifications in threads: how many run at the same time, and how each one settles. */
import { expect, test } from "bun:test";
import { QueueFull } from "../../src/errors.ts";
import { ThreadQueue } from "../../src/pool/thread-queue.ts";

const MEBIBYTE = 1024 * 1024;
const QUEUED = { runsIn: "thread", iterations: 600_000, memoryBytes: 0 } as const;

/** A queue of verifications that end when the test says so. */
function createQueue(threads: number) {
  const queue = new ThreadQueue(threads);
  const running: PromiseWithResolvers<boolean>[] = [];
  const verify = () => {
    const run = Promise.withResolvers<boolean>();
    running.push(run);
    return run.promise;
  };
  return {
    queue,
    running,
    submit: ({ memoryBytes = 0, submittedMs = 0 }, signal?: AbortSignal) =>
      queue.submit({ ...QUEUED, memoryBytes, verify }, "", submittedMs, signal),
    /** Ends the oldest one, and waits until it no longer occupies its thread. */
    async end(matches: boolean) {
      running.shift()?.resolve(matches);
      await new Promise(setImmediate);
    },
  };
}

test("no more run than there are threads, and 129 MiB are never exceeded", async () => {
  const { queue, running, submit, end } = createQueue(2);
  const results = [100, 100, 20, 5].map((size) => submit({ memoryBytes: size * MEBIBYTE }));
  expect([running.length, queue.iterations]).toEqual([1, 1_800_000]);
  await end(true);
  expect([running.length, queue.iterations]).toEqual([2, 600_000]);
  for (const matches of [false, true, true]) await end(matches);
  expect(await Promise.all(results)).toEqual([true, false, true, true]);
});

test("an aborted verification rejects immediately and keeps its thread until it ends", async () => {
  const { queue, running, submit, end } = createQueue(1);
  const controller = new AbortController();
  const aborted = Promise.allSettled([1, 2].map(() => submit({}, controller.signal)));
  const third = submit({});
  controller.abort();
  const outcome = { status: "rejected", reason: { name: "AbortError" } };
  expect(await aborted).toMatchObject([outcome, outcome]);
  expect([running.length, queue.iterations]).toEqual([1, 600_000]);
  await end(true);
  await end(true);
  expect(await third).toBe(true);
});

test("a failure rejects with WorkerCrashed, and the next verification runs", async () => {
  const queue = new ThreadQueue(1);
  const failure = new Error("out of memory");
  const verify = () => {
    throw failure;
  };
  const failed = queue.submit({ ...QUEUED, verify }, "", 0);
  const next = queue.submit({ ...QUEUED, verify: async () => true }, "", 0);
  await expect(failed).rejects.toMatchObject({ code: "HASH_WORKER_CRASHED", cause: failure });
  expect(await next).toBe(true);
});

test("only verifications that have waited too long expire", async () => {
  const { queue, submit, end } = createQueue(1);
  const [first, second, third] = [1, 2, 3].map((submittedMs) => submit({ submittedMs }));
  queue.expire(3, () => new QueueFull(1));
  await expect(second).rejects.toBeInstanceOf(QueueFull);
  await end(true);
  await end(true);
  expect(await Promise.all([first, third])).toEqual([true, true]);
});
