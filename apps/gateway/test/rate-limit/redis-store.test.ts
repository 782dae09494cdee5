/** RateLimitStore in a real Redis: shared by replicas, replaced by this process's own while Redis is away, and taken up again. */
import { describe, expect, test } from "bun:test";
import { type RedisServer, startRedisServer } from "@latchkey/testing/redis-server";
import { RedisClient } from "bun";
import pino from "pino";
import { openRedisStore, type SharedCounters } from "../../src/rate-limit/redis-store.ts";
import { type CountersStore, quotaConformance } from "./store-conformance.ts";

const quota = { name: "login", windowMs: 60_000 };
const SHARED = "limits are shared through Redis";
const AWAY = "limits are counted in this process until Redis answers";
const available = Bun.which("redis-server") !== null;
if (!available) process.stderr.write("redis-store.test.ts: skipped, since there is no redis-server here\n");

/** Resolves when `store` count in Redis, or no longer do: every attempt is a round trip, so nothing spins. */
async function untilShared(store: SharedCounters, isShared: boolean): Promise<void> {
  const probe = store.create({ name: "probe", windowMs: 60_000 });
  while (store.isShared() !== isShared) {
    await probe.increment("probe");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Replica extends AsyncDisposable {
  readonly store: SharedCounters;
  readonly messages: readonly string[];
}

async function startReplica({ url }: RedisServer): Promise<Replica> {
  const messages: string[] = [];
  const logger = pino({ base: null }, { write: (line) => messages.push(JSON.parse(line).msg) });
  const store = openRedisStore({ url, logger, probeIntervalMs: 20 });
  return { store, messages, [Symbol.asyncDispose]: () => store.close() };
}

/** A store whose time passes when it is told to: its clock goes ahead, and what is left of every key goes down. */
async function openStore(): Promise<CountersStore> {
  const stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedis());
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const store = stack.use(openRedisStore({ url: redis.url, logger: pino({ enabled: false }), now }));
  await untilShared(store, true);
  const operator = stack.adopt(new RedisClient(redis.url), (client) => client.close());
  return {
    create: store.create,
    now,
    async pass(milliseconds) {
      ahead += milliseconds;
      for (const key of await operator.keys("*")) {
        await operator.pexpire(key, (await operator.pttl(key)) - milliseconds);
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startRedis(): Promise<RedisServer> {
  const server = await startRedisServer();
  if (server === null) throw new Error("There is no redis-server");
  return server;
}

describe.skipIf(!available)("store in Redis", () => quotaConformance(openStore));

test.skipIf(!available)("two replicas count together", async () => {
  await using redis = await startRedis();
  await using one = await startReplica(redis);
  await using two = await startReplica(redis);
  await untilShared(one.store, true);
  await untilShared(two.store, true);
  const [here, there] = [one.store.create(quota), two.store.create(quota)];
  const hits = await Promise.all(
    Array.from({ length: 12 }, (_, i) => (i % 2 ? here : there).increment("1.2.3.4")),
  );
  expect(hits.map(({ count }) => count).sort((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ]);
});

test.skipIf(!available)(
  "Redis killed: own store at once, said once, shared again when it is back",
  async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis);
    await untilShared(one.store, true);
    const store = one.store.create(quota);
    for (let i = 1; i <= 3; i += 1) expect((await store.increment("a")).count).toBe(i);
    await redis.kill();
    for (let i = 1; i <= 3; i += 1) expect((await store.increment("a")).count).toBe(i);
    expect(one.store.isShared()).toBe(false);
    expect(one.messages).toEqual([SHARED, AWAY]);
    await redis.start();
    await untilShared(one.store, true);
    expect((await store.increment("a")).count).toBe(1);
    expect(one.messages).toEqual([SHARED, AWAY, SHARED]);
  },
);

test.skipIf(!available)(
  "Redis frozen: no request waits for it longer than 250 ms, and all but the first not at all",
  async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis);
    await untilShared(one.store, true);
    const store = one.store.create(quota);
    {
      using _frozen = redis.freeze();
      const started = performance.now();
      expect((await store.increment("a")).count).toBe(1);
      expect(performance.now() - started).toBeLessThan(250);
      expect(store.increment("a")).not.toBeInstanceOf(Promise);
      expect(one.store.isShared()).toBe(false);
    }
    await untilShared(one.store, true);
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
  await using store = openRedisStore({ url: "redis://127.0.0.1:1", logger, probeIntervalMs: 1 });
  const own = store.create(quota);
  await warned.promise;
  for (let i = 1; i <= 50; i += 1) {
    expect((await own.increment("a")).count).toBe(i);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(store.isShared()).toBe(false);
  expect(messages).toEqual([AWAY]);
});
