/** An aborted job is dropped: immediately in the queue, at the end of the slice in a lane. */
import { describe, expect, test } from "bun:test";
import { createHasher } from "../../src/index.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { createJob } from "../support/derivation.ts";
import { testNativeKernels } from "../support/native-kernels.ts";

const LONG = 2_000_000;
const nameOf = (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.name);

describe("abort", () => {
  test("before the call rejects without queueing a job, with the signal's reason if that is an AbortError", async () => {
    await using hasher = createHasher({ workers: 1 });
    const signal = AbortSignal.abort(new DOMException("gone", "AbortError"));
    await expect(hasher.derive(createJob(1, signal))).rejects.toBe(signal.reason);
    await expect(hasher.hash("secret", { signal })).rejects.toBe(signal.reason);
    await expect(hasher.verify("secret", "malformed", { signal })).rejects.toBe(signal.reason);
    for (const other of [new TypeError("other"), "text"])
      expect(await nameOf(hasher.derive(createJob(1, AbortSignal.abort(other))))).toBe("AbortError");
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

  testNativeKernels(
    "in a lane rejects immediately, and frees the lane at the end of the slice with kernel %s",
    async (kernel) => {
      await using hasher = createHasher({ kernel, workers: 1, nice: 0 });
      const controller = new AbortController();
      await hasher.ready();
      const { lanes } = hasher.stats();
      const finished: string[] = [];
      const runLong = () => hasher.derive(createJob(LONG)).then(() => finished.push("running"));
      const runAborted = () =>
        hasher.derive(createJob(5 * LONG, controller.signal)).catch(() => finished.push("aborted"));
      const jobs: Promise<unknown>[] = [runLong()];
      for (let lane = 2; lane < lanes; lane++) jobs.push(runAborted());
      // Lanes are filled in order: once this job has finished, all previous jobs are in their lanes.
      await hasher.derive(createJob(1));
      jobs.push(runLong());
      jobs.push(hasher.derive(createJob(1)).then(() => finished.push("waiting")));
      expect(hasher.stats()).toMatchObject({ lanesBusy: lanes, queueLength: 1 / STORED_ITERATIONS });
      controller.abort();
      await Promise.all(jobs);
      const aborted = Array.from({ length: lanes - 2 }, () => "aborted");
      expect(finished).toEqual([...aborted, "waiting", "running", "running"]);
      expect(hasher.stats()).toMatchObject({ completed: 4, aborted: lanes - 2 });
    },
  );
});
