/** The queue is full when every lane is busy and the iterations of the waiting jobs have reached the limit. */
import { describe, expect, test } from "bun:test";
import { createHasher, QueueFull } from "../../src/index.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { createJob } from "../support/derivation.ts";
import { openSteppingPool } from "../support/open-pool.ts";

describe("backpressure", () => {
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
    expect(stats).toMatchObject({ lanes: 2, lanesBusy: 2, queueLength: 8, queueLimit: 8, rejected: 2 });
    expect((await derived).at(-1)).toMatchObject({ reason: expect.any(QueueFull) });
  });

  test("with a limit of zero accepts jobs for free lanes only", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 0 });
    const first = hasher.derive(createJob(50_000));
    expect(hasher.derive(createJob(50_000))).rejects.toThrow(QueueFull);
    await first;
    await hasher.derive(createJob(1));
  });

  test.each([
    { iterations: 60_000, queueSeconds: 3600, waiting: 1000, retryAfterSeconds: 50 },
    { iterations: STORED_ITERATIONS, queueSeconds: 3600, waiting: 100, retryAfterSeconds: 50 },
    { iterations: 4_000_000, queueSeconds: 3600, waiting: 15, retryAfterSeconds: 50 },
    // The queue is empty after the maximum waiting time.
    { iterations: STORED_ITERATIONS, queueSeconds: 2, waiting: 100, retryAfterSeconds: 2 },
  ])(
    "limits the waiting iterations, and computes the retry time from them and the capacity: $waiting of $iterations, $retryAfterSeconds s if a job waits at most $queueSeconds s",
    async ({ iterations, queueSeconds, waiting, retryAfterSeconds }) => {
      await using pool = openSteppingPool({ queueLimit: 100, queueSeconds, stepped: true });
      await pool.ready();
      const controller = new AbortController();
      const submit = () => pool.submit(createJob(iterations, controller.signal));
      // One more is in the lane.
      const accepted = Promise.allSettled(Array.from({ length: 1 + waiting }, submit));
      const { rejected, queueLength } = pool.stats();
      const next = await Promise.allSettled([submit().finally(() => controller.abort())]);
      await accepted;
      expect({ rejected, queueLength }).toEqual({
        rejected: 0,
        queueLength: (waiting * iterations) / STORED_ITERATIONS,
      });
      expect(next).toMatchObject([{ reason: { retryAfterSeconds } }]);
    },
  );

  test("has a default limit that is derived from the sum of the measured capacities once the pool is ready", async () => {
    await using pool = openSteppingPool({ workers: 3, queueLimit: undefined, queueSeconds: 50 });
    expect(pool.stats()).toMatchObject({ capacityPerSecond: 0, queueLimit: 64 });
    await pool.ready();
    expect(pool.stats()).toMatchObject({ capacityPerSecond: 6, queueLimit: 300 });
  });

  test.each([
    ["workers", [0, -1, 1.5, Number.NaN, 1025, Number.POSITIVE_INFINITY]],
    ["queueLimit", [-1, 0.5, Number.NaN, 1_000_001]],
    ["nice", [-1, 20, 1.5, Number.NaN]],
  ])("throws a RangeError for invalid values of %s", (name, values) => {
    for (const value of values) expect(() => createHasher({ [name]: value })).toThrow(RangeError);
  });

  test("rejects iterations out of bounds with a RangeError", async () => {
    await using hasher = createHasher({ workers: 1 });
    for (const iterations of [0, -1, 1.5, Number.NaN, 10_000_001, Number.POSITIVE_INFINITY])
      await expect(hasher.derive(createJob(iterations))).rejects.toThrow(RangeError);
  });
});
