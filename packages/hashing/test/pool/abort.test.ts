/** An aborted job is dropped: immediately in the queue, at the end of the slice in a lane. */
import { describe, expect, test } from "bun:test";
import { createHasher } from "../../src/index.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { createJob } from "../support/derivation.ts";
import { nativeKernelNames } from "../support/native-kernels.ts";

const LONG = 2_000_000;
const nameOf = (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.name);

describe("abort", () => {
  test("before the call rejects without queueing a job", async () => {
    await using hasher = createHasher({ workers: 1 });
    const signal = AbortSignal.abort();
    expect(await nameOf(hasher.derive(createJob(1, signal)))).toBe("AbortError");
    expect(await nameOf(hasher.hash("secret", { signal }))).toBe("AbortError");
    expect(await nameOf(hasher.verify("secret", "malformed", { signal }))).toBe("AbortError");
    expect(hasher.stats()).toMatchObject({ completed: 0, lanesBusy: 0, queueLength: 0 });
  });

  test("in the queue frees the place immediately", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 2 });
    const first = hasher.derive(createJob(100_000));
    const controller = new AbortController();
    const waiting = [1, 2].map(() => hasher.derive(createJob(STORED_ITERATIONS, controller.signal)));
    expect(hasher.stats().queueLength).toBe(2);
    controller.abort();
    expect(hasher.stats()).toMatchObject({ queueLength: 0, aborted: 2 });
    expect(await Promise.all(waiting.map(nameOf))).toEqual(["AbortError", "AbortError"]);
    const later = hasher.derive(createJob(1));
    await Promise.all([first, later]);
    expect(hasher.stats()).toMatchObject({ completed: 2, aborted: 2 });
  });

  test("in a worker rejects immediately, and the worker runs the next job", async () => {
    await using hasher = createHasher({ workers: 1 });
    await hasher.derive(createJob(1));
    const controller = new AbortController();
    const { lanes } = hasher.stats();
    const dropped = Array.from({ length: lanes }, () => hasher.derive(createJob(LONG, controller.signal)));
    const next = hasher.derive(createJob(1));
    controller.abort();
    expect(await Promise.all(dropped.map(nameOf))).toEqual(dropped.map(() => "AbortError"));
    await next;
    expect(hasher.stats()).toMatchObject({ completed: 2, iterations: 2, aborted: lanes });
  });

  test.each(nativeKernelNames)(
    "in a lane frees the lane at the end of the slice with kernel %s",
    async (kernel) => {
      await using hasher = createHasher({ kernel, workers: 1, nice: 0 });
      const controller = new AbortController();
      const { lanes } = hasher.stats();
      const finished: string[] = [];
      const runLong = () => hasher.derive(createJob(LONG)).then(() => finished.push("running"));
      const jobs: Promise<unknown>[] = [runLong()];
      for (let lane = 2; lane < lanes; lane++)
        jobs.push(hasher.derive(createJob(5 * LONG, controller.signal)));
      // Lanes are filled in order: once this job has finished, all previous jobs are in their lanes.
      await hasher.derive(createJob(1));
      jobs.push(runLong());
      jobs.push(hasher.derive(createJob(1)).then(() => finished.push("waiting")));
      expect(hasher.stats()).toMatchObject({ lanesBusy: lanes, queueLength: 1 / STORED_ITERATIONS });
      controller.abort();
      await Promise.allSettled(jobs);
      expect(finished).toEqual(["waiting", "running", "running"]);
    },
  );

  test("rejects with the signal's reason if it is an AbortError, otherwise with a new AbortError", async () => {
    await using hasher = createHasher({ workers: 1 });
    const own = new DOMException("gone", "AbortError");
    for (const [reason, message] of [
      [own, "gone"],
      [new TypeError("other"), "aborted"],
      ["text", "aborted"],
    ] as const) {
      const controller = new AbortController();
      const derived = hasher.derive(createJob(LONG, controller.signal));
      controller.abort(reason);
      const error: unknown = await derived.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "AbortError", message: expect.stringContaining(message) });
    }
  });
});
