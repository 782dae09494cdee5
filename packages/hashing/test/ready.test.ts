/** When a hasher knows what it can do. */
import { expect, test } from "bun:test";
import { createHasher } from "../src/index.ts";

test("once ready, every worker's measured capacity is in the sum, and the queue's default limit follows it", async () => {
  await using one = createHasher({ workers: 1, kernel: "portable" });
  await using two = createHasher({ workers: 2, kernel: "portable" });
  expect(two.stats().capacityPerSecond).toBe(0);
  await Promise.all([one.ready(), two.ready()]);
  const { capacityPerSecond, queueLimit } = two.stats();
  expect(capacityPerSecond).toBeGreaterThan(one.stats().capacityPerSecond);
  expect(queueLimit).toBe(Math.max(64, Math.ceil(5 * capacityPerSecond)));
});

test("whoever waits for a hasher that is closed meanwhile goes on", async () => {
  const hasher = createHasher({ workers: 1 });
  const ready = hasher.ready();
  await hasher.close();
  await ready;
});
