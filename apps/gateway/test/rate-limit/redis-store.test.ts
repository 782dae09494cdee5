/** The stores in a real Redis: shared by replicas, replaced by their own memory while Redis is unreachable. */
import { describe, expect, test } from "bun:test";
import { type RedisServer, startRedisServer } from "@latchkey/testing/redis-server";
import { freePort } from "@latchkey/testing/server-process";
import { RedisClient } from "bun";
import pino from "pino";
import { openRedisStore, type RedisStore, type RedisStoreOptions } from "../../src/rate-limit/redis-store.ts";
import { advanceRedis } from "../support/redis-clock.ts";
import { type StoreBackend, storeConformance } from "./store-conformance.ts";

const quota = { name: "login", windowMs: 60_000 };
const budget = { name: "login", attempts: 4, refillMs: 60_000 };
const SHARED = "rate limits are shared through Redis";
const UNREACHABLE = "Redis is unreachable: rate limits are counted in this process";
const available = Bun.which("redis-server") !== null;
if (!available) process.stderr.write("redis-store.test.ts: skipped, because redis-server is not installed\n");

const digestOf = (text: string): string => new Bun.CryptoHasher("md5").update(text).digest("hex");

/** Resolves when `store` is connected, or no longer is. Each iteration is a round trip, so the loop never spins. */
async function untilConnected(store: RedisStore, isConnected: boolean): Promise<void> {
  const other = store.create({ name: "other", windowMs: 60_000 });
  while (store.isConnected() !== isConnected) {
    await other.increment("other");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Replica extends AsyncDisposable {
  readonly store: RedisStore;
  readonly messages: readonly string[];
}

async function startReplica(url: string, options: Partial<RedisStoreOptions> = {}): Promise<Replica> {
  const messages: string[] = [];
  const logger = pino({ base: null }, { write: (line) => messages.push(JSON.parse(line).msg) });
  const store = await openRedisStore({ url, logger, maxRetryDelayMs: 20, ...options });
  return { store, messages, [Symbol.asyncDispose]: () => store.close() };
}

/** Time passes also through `advance`, for the store and for Redis. */
async function openBackend(): Promise<StoreBackend> {
  const stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedis());
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const { store } = stack.use(await startReplica(redis.url, { now }));
  const operator = stack.adopt(new RedisClient(redis.url), (client) => client.close());
  return {
    create: store.create,
    createBudgets: store.createBudgets,
    now,
    async advance(milliseconds) {
      ahead += milliseconds;
      await advanceRedis(operator, milliseconds);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startRedis(): Promise<RedisServer> {
  const server = await startRedisServer();
  if (server === null) throw new Error("redis-server is not installed");
  return server;
}

describe.skipIf(!available)("Redis store", () => {
  storeConformance(openBackend);

  test("replicas share budgets, and a page of them exists until they are full again", async () => {
    await using redis = await startRedis();
    await using one = await startReplica(redis.url);
    await using two = await startReplica(redis.url);
    const stores = [one.store.createBudgets(budget), two.store.createBudgets(budget)] as const;
    const takes = Array.from({ length: 12 }, async (_, index) => stores[index % 2 ? 1 : 0].take("0123abcd"));
    expect((await Promise.all(takes)).filter((waitMs) => waitMs === 0)).toHaveLength(budget.attempts);
    using operator = new DisposableStack();
    const client = operator.adopt(new RedisClient(redis.url), (opened) => opened.close());
    expect(await client.keys("latchkey:budget:*")).toEqual(["latchkey:budget:login:01"]);
    const fullMs = budget.attempts * budget.refillMs;
    expect(await client.pttl("latchkey:budget:login:01")).toBeWithin(fullMs - 5_000, fullMs + 1);
  });

  test("budgets of any number of e-mails have 256 keys of 48 KiB at most", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url, { commandTimeoutMs: 60_000 });
    using operator = new DisposableStack();
    const client = operator.adopt(new RedisClient(redis.url), (opened) => opened.close());
    const store = replica.store.createBudgets(budget);
    const digests = Array.from({ length: 5_000 }, (_, index) => digestOf(`${index}@example.org`));
    await Promise.all(digests.map((digest) => store.take(digest)));
    const pages = await client.keys("latchkey:budget:*");
    expect(pages).toHaveLength(256);
    for (const page of pages) expect(await client.strlen(page)).toBeLessThanOrEqual(48 * 1024);
  });

  test("while Redis is killed, each replica has budgets of its own", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url);
    const store = replica.store.createBudgets(budget);
    const takeAll = async () => {
      for (let count = 1; count <= budget.attempts; count++) expect(await store.take("digest")).toBe(0);
      expect(await store.take("digest")).toBeGreaterThan(0);
    };
    await takeAll();
    await redis.kill();
    await takeAll();
    expect(replica.messages).toEqual([SHARED, UNREACHABLE]);
  });

  test("opening waits for a Redis that starts within the timeout", async () => {
    await using redis = await startRedis();
    await redis.kill();
    const opening = startReplica(redis.url, { startTimeoutMs: 30_000 });
    await redis.start();
    await using replica = await opening;
    expect(replica.store.isConnected()).toBe(true);
    expect(replica.messages.at(-1)).toBe(SHARED);
  });

  test("when Redis is killed, the replica counts in memory at once, warns once, and reconnects later", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url);
    const store = replica.store.create(quota);
    for (const count of [1, 2, 3]) expect((await store.increment("a")).count).toBe(count);
    await redis.kill();
    for (const count of [1, 2, 3]) expect((await store.increment("a")).count).toBe(count);
    expect(replica.store.isConnected()).toBe(false);
    expect(replica.messages).toEqual([SHARED, UNREACHABLE]);
    await redis.start();
    await untilConnected(replica.store, true);
    expect((await store.increment("a")).count).toBe(1);
    expect(replica.messages).toEqual([SHARED, UNREACHABLE, SHARED]);
  });

  test("a stall of this process that is longer than the timeout is not an outage of Redis", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url);
    const store = replica.store.create(quota);
    await store.increment("a");
    for (const count of [2, 3]) {
      const increment = store.increment("a");
      Bun.sleepSync(300);
      expect((await increment).count).toBe(count);
    }
    expect(replica.messages).toEqual([SHARED]);
  });

  test("an increment is taken back where it was counted, in Redis or in memory", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url);
    const store = replica.store.create(quota);
    const inRedis = await store.increment("a");
    await redis.kill();
    const inMemory = await store.increment("a");
    await inRedis.undo();
    expect((await store.increment("a")).count).toBe(2);
    await redis.start();
    await untilConnected(replica.store, true);
    await store.increment("a");
    await inMemory.undo();
    expect((await store.increment("a")).count).toBe(2);
  });

  test("when Redis is frozen, one request waits less than 250 ms and the following do not wait", async () => {
    await using redis = await startRedis();
    await using replica = await startReplica(redis.url);
    const store = replica.store.create(quota);
    {
      using _frozen = redis.freeze();
      const started = performance.now();
      expect((await store.increment("a")).count).toBe(1);
      expect(performance.now() - started).toBeLessThan(250);
      expect(store.increment("a")).not.toBeInstanceOf(Promise);
      expect(replica.store.isConnected()).toBe(false);
    }
    await untilConnected(replica.store, true);
    expect(replica.messages).toEqual([SHARED, UNREACHABLE, SHARED]);
  });
});

test("opening with an unreachable Redis ends after the timeout, warns once and counts in memory", async () => {
  const startedAt = performance.now();
  await using replica = await startReplica(`redis://127.0.0.1:${freePort()}`, { startTimeoutMs: 200 });
  expect(performance.now() - startedAt).toBeWithin(190, 2_000);
  const store = replica.store.create(quota);
  for (let count = 1; count <= 50; count += 1) {
    expect((await store.increment("a")).count).toBe(count);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(replica.store.isConnected()).toBe(false);
  expect(replica.messages).toEqual([UNREACHABLE]);
});
