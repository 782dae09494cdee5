/** At most ten wrong values per user are verified, also by replicas that share Redis. */
import { expect, test } from "bun:test";
import { QueueFull } from "@latchkey/hashing";
import { startRedisServer } from "@latchkey/testing/redis-server";
import pino from "pino";
import {
  createWrongPasswordLimit,
  type WrongPasswordLimit,
} from "../../../src/features/auth/wrong-password-limit.ts";
import { createMemoryStore } from "../../../src/rate-limit/memory-store.ts";
import { openRedisStore } from "../../../src/rate-limit/redis-store.ts";
import { createClock } from "../../support/clock.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const available = Bun.which("redis-server") !== null;
if (!available)
  process.stderr.write("wrong-password-limit.test.ts: skipped, because redis-server is not installed\n");

/** Verifies 40 values of one user at the same time, and returns how many were verified and how many rejected. */
async function verifyTogether(limits: readonly WrongPasswordLimit[], isCorrect: (index: number) => boolean) {
  let verified = 0;
  const attempts = Array.from({ length: 40 }, async (_, index) =>
    limits[index % limits.length]?.(1, async () => {
      verified += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return isCorrect(index);
    }),
  );
  const outcomes = await Promise.allSettled(attempts);
  const rejected = outcomes.filter(({ status }) => status === "rejected").length;
  return { verified, rejected };
}

test("of forty simultaneous wrong values, ten are verified; each user has a separate limit", async () => {
  const limit = createWrongPasswordLimit(createMemoryStore);
  expect(await verifyTogether([limit], () => false)).toEqual({ verified: 10, rejected: 30 });
  await expect(limit(1, async () => true)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  expect(await limit(2, async () => true)).toBe(true);
});

test("right values, rejected ones and those whose verification fails do not use up the limit", async () => {
  const limit = createWrongPasswordLimit(createMemoryStore);
  await verifyTogether([limit], () => true);
  for (let count = 1; count <= 9; count++) expect(await limit(1, async () => false)).toBe(false);
  await verifyTogether([limit], () => true);
  for (let count = 1; count <= 12; count++)
    await expect(limit(1, () => Promise.reject(new QueueFull(1)))).rejects.toThrow(QueueFull);
  expect(await limit(1, async () => false)).toBe(false);
  await expect(limit(1, async () => false)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
});

test("a day after the first wrong value, ten more are verified", async () => {
  const { now, advance } = createClock();
  const limit = createWrongPasswordLimit(({ windowMs }) => createMemoryStore({ windowMs, now }));
  const wrong = () => verifyTogether([limit], () => false);
  expect(await wrong()).toMatchObject({ verified: 10 });
  advance(DAY_MS - 1);
  expect(await wrong()).toMatchObject({ verified: 0 });
  advance(1);
  expect(await wrong()).toMatchObject({ verified: 10 });
});

test.skipIf(!available && !process.env.CI)(
  "two replicas that share Redis verify ten of forty simultaneous wrong values, and right ones are not counted",
  async () => {
    await using redis = await startRedisServer();
    if (redis === null) throw new Error("redis-server is not installed");
    const options = { url: redis.url, logger: pino({ level: "silent" }) };
    await using one = await openRedisStore(options);
    await using two = await openRedisStore(options);
    const limits = [createWrongPasswordLimit(one.create), createWrongPasswordLimit(two.create)];
    await verifyTogether(limits, () => true);
    expect(await verifyTogether(limits, () => false)).toEqual({ verified: 10, rejected: 30 });
    expect([one.isConnected(), two.isConnected()]).toEqual([true, true]);
  },
);
