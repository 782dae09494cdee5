/** One definition of full: every lane busy and as many waiting as may. */
import { describe, expect, test } from "bun:test";
import { createHasher, type DeriveJob, QueueFull } from "../src/index.ts";

const job = (iterations = 50_000): DeriveJob => ({
  password: new Uint8Array(8),
  salt: new Uint8Array(8),
  iterations,
});

describe("backpressure", () => {
  test("as many as lanes and limit together are admitted; the next is refused with a time to come back", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 2, queueLimit: 3 });
    const admitted = Array.from({ length: 5 }, () => hasher.derive(job()));
    expect(hasher.stats()).toMatchObject({
      lanes: 2,
      lanesBusy: 2,
      queueLength: 3,
      queueLimit: 3,
      refused: 0,
    });

    const refusal = await hasher.derive(job()).catch((error: unknown) => error);
    if (!(refusal instanceof QueueFull)) throw refusal;
    expect(refusal.code).toBe("HASH_QUEUE_FULL");
    expect(refusal.retryAfterSeconds).toBeInteger();
    expect(refusal.retryAfterSeconds).toBeGreaterThanOrEqual(1);

    await Promise.all(admitted);
    expect(hasher.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0, completed: 5, refused: 1 });
    await hasher.derive(job(1));
  });

  test("a limit of zero admits to free lanes only", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 0 });
    const first = hasher.derive(job());
    expect(hasher.derive(job())).rejects.toThrow(QueueFull);
    await first;
  });

  test("the time to come back grows with the queue", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1, queueLimit: 200 });
    await hasher.derive(job());
    const controller = new AbortController();
    const waiting = Array.from({ length: 201 }, () => hasher.derive({ ...job(), signal: controller.signal }));
    const refusal = await hasher.derive(job()).catch((error: unknown) => error);
    if (!(refusal instanceof QueueFull)) throw refusal;
    expect(refusal.retryAfterSeconds).toBe(Math.ceil(200 / hasher.stats().capacityPerSecond));
    controller.abort();
    await Promise.allSettled(waiting);
  });

  test("jobs start in the order in which they came", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 1 });
    const finished: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => hasher.derive(job(100)).then(() => finished.push(index))),
    );
    expect(finished).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  test("a job does not wait behind a long one while another worker has nothing to do", async () => {
    await using hasher = createHasher({ kernel: "portable", workers: 2 });
    const controller = new AbortController();
    const long = hasher.derive({ ...job(10_000_000), signal: controller.signal });
    await Promise.all(Array.from({ length: 10 }, () => hasher.derive(job(100))));
    // Ten jobs ended while the long one still ran: none of them was bound to its worker.
    expect(hasher.stats()).toMatchObject({ completed: 10, lanesBusy: 1 });
    controller.abort();
    expect(long).rejects.toMatchObject({ name: "AbortError" });
  });

  test("without a limit of its own the line holds five seconds of the measured capacity, at least 64", async () => {
    await using hasher = createHasher({ workers: 1 });
    expect(hasher.stats()).toMatchObject({ queueLimit: 64, capacityPerSecond: 0 });
    await hasher.derive(job(1));
    const { queueLimit, capacityPerSecond } = hasher.stats();
    expect(capacityPerSecond).toBeGreaterThan(0);
    expect(queueLimit).toBe(Math.max(64, Math.ceil(5 * capacityPerSecond)));
  });

  test.each([0, -1, 1.5, Number.NaN, 1025, Number.POSITIVE_INFINITY])(
    "%p workers are a RangeError",
    (workers) => {
      expect(() => createHasher({ workers })).toThrow(RangeError);
    },
  );

  test.each([-1, 0.5, Number.NaN, 1_000_001])("a queue limit of %p is a RangeError", (queueLimit) => {
    expect(() => createHasher({ queueLimit })).toThrow(RangeError);
  });

  test.each([0, -1, 1.5, Number.NaN, 10_000_001, Number.POSITIVE_INFINITY])(
    "%p iterations reject with a RangeError",
    async (iterations) => {
      await using hasher = createHasher({ workers: 1 });
      const derived = hasher.derive(job(iterations));
      expect(derived).rejects.toThrow(RangeError);
      expect(hasher.stats().lanesBusy).toBe(0);
    },
  );
});
