/** Counters in a real Redis: shared by replicas, replaced by this process's own while Redis is away, and taken up again. */
import { expect, test } from "bun:test";
import { type RedisServer, startRedisServer } from "@latchkey/tooling/redis-server";
import pino from "pino";
import { openSharedCounters, type SharedCounters } from "../src/quotas/redis.ts";

const quota = { name: "login", windowMs: 60_000 };
const SHARED = "limits are shared through Redis";
const AWAY = "limits are counted in this process until Redis answers";
const available = Bun.which("redis-server") !== null;
if (!available)
  process.stderr.write("redis-counters.test.ts: skipped, since there is no redis-server here\n");

/** Resolves when `counters` count in Redis, or no longer do: every attempt is a round trip, so nothing spins. */
async function untilShared(counters: SharedCounters, isShared: boolean): Promise<void> {
  const probe = counters.create({ name: "probe", windowMs: 60_000 });
  while (counters.isShared() !== isShared) {
    await probe.hit("probe");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Replica extends AsyncDisposable {
  readonly counters: SharedCounters;
  readonly messages: readonly string[];
}

async function startReplica({ url }: RedisServer): Promise<Replica> {
  const messages: string[] = [];
  const logger = pino({ base: null }, { write: (line) => messages.push(JSON.parse(line).msg) });
  const counters = openSharedCounters({ url, logger, probeIntervalMs: 20 });
  return { counters, messages, [Symbol.asyncDispose]: () => counters.close() };
}

async function startRedis(): Promise<RedisServer> {
  const server = await startRedisServer();
  if (server === null) throw new Error("There is no redis-server");
  return server;
}

test.skipIf(!available)("two replicas count together, keys and quotas apart", async () => {
  await using redis = await startRedis();
  await using one = await startReplica(redis);
  await using two = await startReplica(redis);
  await untilShared(one.counters, true);
  await untilShared(two.counters, true);
  const [here, there] = [one.counters.create(quota), two.counters.create(quota)];
  const hits = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? here : there).hit("1.2.3.4")));
  expect(hits.map(({ count }) => count).sort((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ]);
  expect((await here.hit("1.2.3.5")).count).toBe(1);
  expect((await two.counters.create({ ...quota, name: "register" }).hit("1.2.3.4")).count).toBe(1);
});

test.skipIf(!available)(
  "the window starts with the first request and ends for all replicas at once",
  async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis);
    await untilShared(one.counters, true);
    const counters = one.counters.create(quota);
    const before = Date.now();
    const first = await counters.hit("a");
    const second = await counters.hit("a");
    expect(first.resetsAt).toBeGreaterThanOrEqual(before + quota.windowMs - 1);
    expect(first.resetsAt).toBeLessThanOrEqual(Date.now() + quota.windowMs);
    // The server tells what is left in whole milliseconds, and each answer is a moment on its way.
    expect(Math.abs(second.resetsAt - first.resetsAt)).toBeLessThan(quota.windowMs / 10);
  },
);

test.skipIf(!available)(
  "Redis killed: own counters at once, said once, shared again when it is back",
  async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis);
    await untilShared(one.counters, true);
    const counters = one.counters.create(quota);
    for (let i = 1; i <= 3; i += 1) expect((await counters.hit("a")).count).toBe(i);
    await redis.kill();
    for (let i = 1; i <= 3; i += 1) expect((await counters.hit("a")).count).toBe(i);
    expect(one.counters.isShared()).toBe(false);
    expect(one.messages).toEqual([SHARED, AWAY]);
    await redis.start();
    await untilShared(one.counters, true);
    expect((await counters.hit("a")).count).toBe(1);
    expect(one.messages).toEqual([SHARED, AWAY, SHARED]);
  },
);

test.skipIf(!available)(
  "Redis frozen: no request waits for it longer than 250 ms, and all but the first not at all",
  async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis);
    await untilShared(one.counters, true);
    const counters = one.counters.create(quota);
    {
      using _frozen = redis.freeze();
      const started = performance.now();
      expect((await counters.hit("a")).count).toBe(1);
      expect(performance.now() - started).toBeLessThan(250);
      expect(counters.hit("a")).not.toBeInstanceOf(Promise);
      expect(one.counters.isShared()).toBe(false);
    }
    await untilShared(one.counters, true);
    expect(one.messages).toEqual([SHARED, AWAY, SHARED]);
  },
);

test("a Redis that is away at the start is said once, and limits are counted all the same", async () => {
  const messages: string[] = [];
  const warned = Promise.withResolvers<void>();
  const write = (line: string): void => {
    messages.push(JSON.parse(line).msg);
    warned.resolve();
  };
  // Port 1 of the loopback is never listened on here.
  const logger = pino({ base: null }, { write });
  await using counters = openSharedCounters({ url: "redis://127.0.0.1:1", logger, probeIntervalMs: 1 });
  const own = counters.create(quota);
  await warned.promise;
  for (let i = 1; i <= 50; i += 1) {
    expect((await own.hit("a")).count).toBe(i);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(counters.isShared()).toBe(false);
  expect(messages).toEqual([AWAY]);
});
