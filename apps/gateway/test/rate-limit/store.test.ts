/** What every store promises: in memory, and in a real Redis. */
import { describe, expect, test } from "bun:test";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { RedisClient } from "bun";
import pino from "pino";
import { openRedisStore } from "../../src/rate-limit/redis-store.ts";
import { createMemoryStore, type Store } from "../../src/rate-limit/store.ts";
import { createClock } from "../support/clock.ts";
import { advanceRedis, redisTest } from "../support/redis.ts";

interface Backend extends AsyncDisposable {
  readonly store: Store;
  /** The backend's clock, in milliseconds since the epoch. */
  now(): number;
  /** Resolves when this much time has passed on that clock. */
  advance(milliseconds: number): Promise<void>;
}

const minute = { name: "login", windowMs: 60_000 };
const three = { name: "login", capacity: 3, refillMs: 60_000 };
/** A store that reads the clock of another program can be off by the time that the test takes. */
const TOLERANCE_MS = 5_000;

async function openMemory(): Promise<Backend> {
  const { now, advance } = createClock();
  return {
    store: createMemoryStore(now),
    now,
    advance: async (milliseconds) => advance(milliseconds),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Time passes also through `advance`, for the store and for Redis. */
async function openRedis(): Promise<Backend> {
  const stack = new AsyncDisposableStack();
  const { url } = stack.use(await startRedisServer());
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const store = stack.use(await openRedisStore({ url, logger: pino({ level: "silent" }), now }));
  const operator = stack.adopt(new RedisClient(url), (client) => client.close());
  return {
    store,
    now,
    async advance(milliseconds) {
      ahead += milliseconds;
      await advanceRedis(operator, milliseconds);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe.each([
  ["in memory", openMemory, test],
  ["in Redis", openRedis, redisTest],
] as const)("a store %s", (_, open, test) => {
  test("the window of a key can be ended; an increment of before is then undone without effect", async () => {
    await using backend = await open();
    const window = backend.store.fixedWindow(minute);
    await window.increment("b");
    const before = await window.increment("a");
    await window.clear("a");
    await window.clear("none");
    await before.undo();
    expect(await window.read("a")).toMatchObject({ count: 0 });
    expect(await window.increment("a")).toMatchObject({ count: 1 });
    expect(await window.read("b")).toMatchObject({ count: 1 });
  });

  test("different keys, and limits with different names, have separate counters", async () => {
    await using backend = await open();
    const logins = backend.store.fixedWindow(minute);
    const registrations = backend.store.fixedWindow({ ...minute, name: "register" });
    await logins.increment("10.0.0.1");
    for (const key of ["10.0.0.2", "", "10.0.0.1 ", "__proto__", "2001:db8::"])
      expect((await logins.increment(key)).count).toBe(1);
    expect((await registrations.increment("10.0.0.1")).count).toBe(1);
    expect((await logins.increment("10.0.0.1")).count).toBe(2);
  });

  test("simultaneous increments return different counts", async () => {
    await using backend = await open();
    const window = backend.store.fixedWindow(minute);
    const increments = Array.from({ length: 100 }, async () => window.increment("10.0.0.1"));
    const counts = (await Promise.all(increments)).map(({ count }) => count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("a window starts with the first increment; later ones do not extend it; after its end, a new one starts", async () => {
    await using backend = await open();
    const window = backend.store.fixedWindow(minute);
    const earliest = backend.now() + minute.windowMs;
    const first = await window.increment("10.0.0.1");
    expect(first.resetsAt).toBeWithin(earliest, backend.now() + minute.windowMs + 1);
    await backend.advance(minute.windowMs / 4);
    const second = await window.increment("10.0.0.1");
    expect(second.count).toBe(2);
    expect(Math.abs(second.resetsAt - first.resetsAt)).toBeLessThan(TOLERANCE_MS);
    await backend.advance((minute.windowMs * 3) / 4);
    const next = await window.increment("10.0.0.1");
    expect(next.count).toBe(1);
    expect(next.resetsAt).toBeGreaterThanOrEqual(first.resetsAt + minute.windowMs - TOLERANCE_MS);
  });

  test("an increment can be taken back, which changes neither its window nor a later one", async () => {
    await using backend = await open();
    const window = backend.store.fixedWindow(minute);
    const first = await window.increment("10.0.0.1");
    const second = await window.increment("10.0.0.1");
    await window.increment("10.0.0.2");
    await backend.advance(minute.windowMs / 4);
    await first.undo();
    const next = await window.increment("10.0.0.1");
    expect(next.count).toBe(2);
    expect(Math.abs(next.resetsAt - first.resetsAt)).toBeLessThan(TOLERANCE_MS);
    await second.undo();
    await next.undo();
    const last = await window.increment("10.0.0.1");
    expect([last.count, (await window.increment("10.0.0.2")).count]).toEqual([1, 2]);
    await backend.advance(minute.windowMs);
    await last.undo();
    expect((await window.increment("10.0.0.1")).count).toBe(1);
  });

  test("a bucket has its attempts at once, returns the time until the next one, and never has more", async () => {
    await using backend = await open();
    const bucket = backend.store.tokenBucket(three);
    const takeFour = async () => {
      const waits: number[] = [];
      for (let count = 0; count < 4; count++) waits.push(await bucket.take("a"));
      return waits.map((wait) => wait === 0);
    };
    expect(await takeFour()).toEqual([true, true, true, false]);
    expect(await bucket.take("a")).toBeWithin(three.refillMs - TOLERANCE_MS, three.refillMs + 1);
    await backend.advance(three.refillMs / 2);
    // A rejected attempt deducts nothing, so the wait only becomes shorter.
    expect(await bucket.take("a")).toBeWithin(three.refillMs / 2 - TOLERANCE_MS, three.refillMs / 2 + 1);
    await backend.advance((three.refillMs * 3) / 2);
    expect(await takeFour()).toEqual([true, true, false, false]);
    for (const refills of [3, 100]) {
      await backend.advance(refills * three.refillMs);
      expect(await takeFour()).toEqual([true, true, true, false]);
    }
  });

  test("reading returns what counting has counted, for all who open the limit, and changes nothing", async () => {
    await using backend = await open();
    const { store } = backend;
    const [window, bucket] = [store.fixedWindow(minute), store.tokenBucket(three)];
    const read = async (key: string) => {
      const { count, resetsAt } = await store.fixedWindow(minute).read(key);
      return [count, resetsAt, await store.tokenBucket(three).read(key)] as const;
    };
    expect([(await read("a"))[0], (await read("a"))[2]]).toEqual([0, 0]);
    for (let count = 1; count <= three.capacity; count++) {
      expect((await read("a"))[2]).toBe(0);
      await bucket.take("a");
      await window.increment("a");
    }
    for (let repetition = 0; repetition < 2; repetition++) {
      const [count, resetsAt, waitMs] = await read("a");
      expect(count).toBe(three.capacity);
      expect(resetsAt - backend.now()).toBeWithin(minute.windowMs - TOLERANCE_MS, minute.windowMs + 1);
      expect(waitMs).toBeWithin(three.refillMs - TOLERANCE_MS, three.refillMs + 1);
    }
    expect((await read("b"))[0]).toBe(0);
    await backend.advance(minute.windowMs);
    expect([(await read("a"))[0], (await read("a"))[2]]).toEqual([0, 0]);
    expect([await bucket.take("a"), (await window.increment("a")).count]).toEqual([0, 1]);
  });

  test("simultaneous attempts get no more than the bucket; other keys, limits and counters are separate", async () => {
    await using backend = await open();
    const bucket = backend.store.tokenBucket(three);
    const waits = await Promise.all(Array.from({ length: 100 }, async () => bucket.take("a")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(three.capacity);
    for (const key of ["b", "", "a ", "__proto__"]) expect(await bucket.take(key)).toBe(0);
    expect(await backend.store.tokenBucket({ ...three, name: "other" }).take("a")).toBe(0);
    expect((await backend.store.fixedWindow(minute).increment("a")).count).toBe(1);
  });
});
