/** Verifications in threads: how many run at the same time, and how each one settles. */
import { expect, test } from "bun:test";
import { QueueFull, WorkerCrashed } from "../../src/errors.ts";
import { ThreadQueue } from "../../src/pool/thread-queue.ts";

const MEBIBYTE = 1024 * 1024;

/** Verifications that end when the test says so. */
function createVerifications(queue: ThreadQueue) {
  const running: PromiseWithResolvers<boolean>[] = [];
  return {
    running,
    submit: (options: { memoryBytes?: number; signal?: AbortSignal; submittedMs?: number } = {}) => {
      const { memoryBytes = 0, signal, submittedMs = 0 } = options;
      const verify = () => {
        const run = Promise.withResolvers<boolean>();
        running.push(run);
        return run.promise;
      };
      const hash = { runsIn: "thread", iterations: 600_000, memoryBytes, verify } as const;
      return queue.submit(hash, "", submittedMs, signal);
    },
  };
}

test("no more run than there are threads, and 129 MiB are never exceeded", async () => {
  const queue = new ThreadQueue(2);
  const { running, submit } = createVerifications(queue);
  const results = [100, 100, 20, 5].map((size) => submit({ memoryBytes: size * MEBIBYTE }));
  expect([running.length, queue.iterations]).toEqual([1, 1_800_000]);
  running[0]?.resolve(true);
  expect(await results[0]).toBe(true);
  while (running.length < 3) await Promise.resolve();
  expect(queue.iterations).toBe(600_000);
  running[1]?.resolve(false);
  running[2]?.resolve(true);
  expect(await Promise.all(results.slice(1, 3))).toEqual([false, true]);
  while (running.length < 4) await Promise.resolve();
  running[3]?.resolve(true);
  expect(await results[3]).toBe(true);
});

test("an aborted verification rejects immediately and keeps its thread until it ends", async () => {
  const queue = new ThreadQueue(1);
  const { running, submit } = createVerifications(queue);
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = Promise.allSettled([submit({ signal }), submit({ signal })]);
  const third = submit();
  controller.abort();
  for (const outcome of await aborted)
    expect(outcome).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
  expect([running.length, queue.iterations]).toEqual([1, 600_000]);
  running[0]?.resolve(true);
  while (running.length < 2) await Promise.resolve();
  running[1]?.resolve(true);
  expect(await third).toBe(true);
});

test("a failure rejects with WorkerCrashed, and the next verification runs", async () => {
  const queue = new ThreadQueue(1);
  const failure = new Error("out of memory");
  const hash = { runsIn: "thread", iterations: 1, memoryBytes: 0 } as const;
  const verify = () => {
    throw failure;
  };
  const failed = queue.submit({ ...hash, verify }, "", 0);
  const next = queue.submit({ ...hash, verify: async () => true }, "", 0);
  await expect(failed).rejects.toBeInstanceOf(WorkerCrashed);
  await expect(failed).rejects.toMatchObject({ cause: failure });
  expect(await next).toBe(true);
});

test("only verifications that have waited too long expire", async () => {
  const queue = new ThreadQueue(1);
  const { running, submit } = createVerifications(queue);
  const [first, second, third] = [1, 2, 3].map((submittedMs) => submit({ submittedMs }));
  queue.expire(3, () => new QueueFull(1));
  await expect(second).rejects.toBeInstanceOf(QueueFull);
  running[0]?.resolve(true);
  while (running.length < 2) await Promise.resolve();
  running[1]?.resolve(true);
  expect(await Promise.all([first, third])).toEqual([true, true]);
});
