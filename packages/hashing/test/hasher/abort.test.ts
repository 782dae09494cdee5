/** A caller that hangs up: its job is dropped, in the line at once and in a lane at the end of the slice. */
import { describe, expect, test } from "bun:test";
import { createHasher, type DeriveJob, kernels } from "../src/index.ts";

const LONG = 2_000_000;
const job = (iterations: number, signal?: AbortSignal): DeriveJob => ({
  password: new Uint8Array(8),
  salt: new Uint8Array(8),
  iterations,
  signal,
});
const nameOf = (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.name);

describe("abort", () => {
  test("before the call: nothing is admitted", async () => {
    await using hasher = createHasher({ workers: 1 });
    const signal = AbortSignal.abort();
    expect(await nameOf(hasher.derive(job(1, signal)))).toBe("AbortError");
    expect(await nameOf(hasher.hash("secret", { signal }))).toBe("AbortError");
    expect(await nameOf(hasher.verify("secret", "malformed", { signal }))).toBe("AbortError");
    expect(hasher.stats()).toMatchObject({ completed: 0, lanesBusy: 0, queueLength: 0 });
  });

  test("in the line: the place is free at once", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 2 });
    const first = hasher.derive(job(100_000));
    const controller = new AbortController();
    const waiting = [1, 2].map(() => hasher.derive(job(1, controller.signal)));
    expect(hasher.stats().queueLength).toBe(2);
    controller.abort();
    expect(hasher.stats()).toMatchObject({ queueLength: 0, aborted: 2 });
    expect(await Promise.all(waiting.map(nameOf))).toEqual(["AbortError", "AbortError"]);
    const later = hasher.derive(job(1));
    await Promise.all([first, later]);
    expect(hasher.stats()).toMatchObject({ completed: 2, aborted: 2 });
  });

  test("with a worker: it rejects at once, and the worker serves the next", async () => {
    await using hasher = createHasher({ workers: 1 });
    await hasher.derive(job(1));
    const controller = new AbortController();
    const { lanes } = hasher.stats();
    const dropped = Array.from({ length: lanes }, () => hasher.derive(job(LONG, controller.signal)));
    const next = hasher.derive(job(1));
    controller.abort();
    expect(await Promise.all(dropped.map(nameOf))).toEqual(dropped.map(() => "AbortError"));
    await next;
    expect(hasher.stats()).toMatchObject({ completed: 2, iterations: 2, aborted: lanes });
  });

  const batching = kernels()
    .map(({ name }) => name)
    .filter((name) => name !== "portable");

  test.each(batching)("kernel %s: an abort empties the lane at the end of the slice", async (kernel) => {
    await using hasher = createHasher({ kernel, workers: 1 });
    const controller = new AbortController();
    const { lanes } = hasher.stats();
    const ended: string[] = [];
    const stay = () => hasher.derive(job(LONG)).then(() => ended.push("stays"));
    const jobs: Promise<unknown>[] = [stay()];
    for (let lane = 2; lane < lanes; lane++) jobs.push(hasher.derive(job(5 * LONG, controller.signal)));
    // Lanes fill in order: once this one is answered, all before it are in theirs.
    await hasher.derive(job(1));
    jobs.push(stay());
    jobs.push(hasher.derive(job(1)).then(() => ended.push("waits")));
    expect(hasher.stats()).toMatchObject({ lanesBusy: lanes, queueLength: 1 });
    controller.abort();
    await Promise.allSettled(jobs);
    expect(ended).toEqual(["waits", "stays", "stays"]);
  });

  test("after the answer: nothing happens", async () => {
    await using hasher = createHasher({ workers: 1 });
    const controller = new AbortController();
    const digest = await hasher.derive(job(1, controller.signal));
    controller.abort();
    expect(digest).toHaveLength(32);
    expect(hasher.stats()).toMatchObject({ completed: 1, aborted: 0 });
  });

  test("rejects with the signal's own AbortError, and with a new one for any other reason", async () => {
    await using hasher = createHasher({ workers: 1 });
    const own = new DOMException("gone", "AbortError");
    for (const [reason, message] of [
      [own, "gone"],
      [new TypeError("other"), "aborted"],
      ["text", "aborted"],
    ] as const) {
      const controller = new AbortController();
      const derived = hasher.derive(job(LONG, controller.signal));
      controller.abort(reason);
      const error: unknown = await derived.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "AbortError", message: expect.stringContaining(message) });
    }
  });
});
