/** The queue is full when every lane is busy and the iterations of the waiting jobs have reached the limit. */
import { describe, expect, test } from "bun:test";
import { createHasher, QueueFull } from "../../src/index.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { createJob } from "../support/derivation.ts";
import { openSteppingPool } from "../support/open-pool.ts";

describe("backpressure", () => {
  test("accepts as many jobs as lanes plus the limit, and rejects the next one with a retry time", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 2, queueLimit: 3 });
    const accepted = Array.from({ length: 5 }, () => hasher.derive(createJob(STORED_ITERATIONS)));
    expect(hasher.stats()).toMatchObject({
      lanes: 2,
      lanesBusy: 2,
      queueLength: 3,
      queueLimit: 3,
      rejected: 0,
    });

    const rejection = await hasher.derive(createJob(50_000)).catch((error: unknown) => error);
    if (!(rejection instanceof QueueFull)) throw rejection;
    expect(rejection.code).toBe("HASH_QUEUE_FULL");
    expect(rejection.retryAfterSeconds).toBeInteger();
    expect(rejection.retryAfterSeconds).toBeGreaterThanOrEqual(1);

    await Promise.all(accepted);
    expect(hasher.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, completed: 5, rejected: 1 });
    await hasher.derive(createJob(1));
  });

  test("verifications in threads have a limit of their own, and leave that of the lanes to the others", async () => {
    await using pool = openSteppingPool({ workers: 2, queueLimit: 8, stepped: true });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const hash = {
      ...({ runsIn: "thread", iterations: STORED_ITERATIONS, memoryBytes: 0 } as const),
      verify: () => promise,
    };
    const ended = new AbortController();
    const verify = async () => pool.verify(hash, "");
    const derive = () => pool.submit(createJob(STORED_ITERATIONS, ended.signal));
    // One runs in the only thread, which does the work of the next two in the time that the workers need for four.
    const verified = Promise.allSettled([verify(), verify(), verify(), verify()]);
    const derived = Promise.allSettled(Array.from({ length: 11 }, derive));
    const stats = pool.stats();
    ended.abort();
    resolve(true);
    const [accepted, rejected] = [{ status: "fulfilled", value: true }, { reason: { retryAfterSeconds: 1 } }];
    expect(await verified).toMatchObject([accepted, accepted, accepted, rejected]);
    expect(stats).toMatchObject({ lanesBusy: 2, queueLength: 8, rejected: 2 });
    expect((await derived).at(-1)).toMatchObject({ reason: expect.any(QueueFull) });
  });

  test("with a limit of zero accepts jobs for free lanes only", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 0 });
    const first = hasher.derive(createJob(50_000));
    expect(hasher.derive(createJob(50_000))).rejects.toThrow(QueueFull);
    await first;
  });

  /** Fills the lane and the queue with jobs until one is rejected. */
  async function fill({ iterations, queueSeconds }: { iterations: number; queueSeconds: number }) {
    await using pool = openSteppingPool({ queueLimit: 100, queueSeconds, stepped: true });
    await pool.ready();
    const controller = new AbortController();
    const start = (iterations: number) =>
      pool.submit(createJob(iterations, controller.signal)).catch((error: unknown) => error);
    start(1_000_000);
    let latest = start(iterations);
    let waiting = 0;
    for (; pool.stats().rejected === 0; waiting++) latest = start(iterations);
    const { queueLength } = pool.stats();
    const rejection = await latest;
    controller.abort();
    if (!(rejection instanceof QueueFull)) throw rejection;
    return { waiting, queueLength, retryAfterSeconds: rejection.retryAfterSeconds };
  }

  test.each([
    [60_000, 1000],
    [STORED_ITERATIONS, 100],
    [4_000_000, 15],
  ])(
    "limits the iterations: of jobs with %p iterations, a limit of 100 lets %p wait",
    async (iterations, jobs) => {
      const { waiting, queueLength } = await fill({ iterations, queueSeconds: 3600 });
      expect({ waiting, queueLength }).toEqual({
        waiting: jobs,
        queueLength: (jobs * iterations) / STORED_ITERATIONS,
      });
    },
  );

  test("computes the retry time from the waiting iterations and the capacity", async () => {
    expect((await fill({ iterations: 60_000, queueSeconds: 3600 })).retryAfterSeconds).toBe(50);
  });

  test("never returns a retry time above the maximum waiting time, after which the queue is empty", async () => {
    expect((await fill({ iterations: STORED_ITERATIONS, queueSeconds: 2 })).retryAfterSeconds).toBe(2);
  });

  test.each([
    ["workers", [0, -1, 1.5, Number.NaN, 1025, Number.POSITIVE_INFINITY]],
    ["queueLimit", [-1, 0.5, Number.NaN, 1_000_001]],
    ["nice", [-1, 20, 1.5, Number.NaN]],
  ])("throws a RangeError for invalid values of %s", (name, values) => {
    for (const value of values) expect(() => createHasher({ [name]: value })).toThrow(RangeError);
  });

  test.each([0, -1, 1.5, Number.NaN, 10_000_001, Number.POSITIVE_INFINITY])(
    "rejects %p iterations with a RangeError",
    async (iterations) => {
      await using hasher = createHasher({ workers: 1 });
      const derived = hasher.derive(createJob(iterations));
      expect(derived).rejects.toThrow(RangeError);
      expect(hasher.stats().lanesBusy).toBe(0);
    },
  );
});
