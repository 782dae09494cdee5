/** RateLimitStore in this process: bounded in memory, and never a live one dropped to make room. */
import { describe, expect, test } from "bun:test";
import { createMemoryStore } from "../../src/rate-limit/memory-store.ts";
import { quotaConformance } from "./store-conformance.ts";

/** A clock that stands still until it is moved. */
function createClock() {
  let time = 1_800_000_000_000;
  return {
    now: () => time,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

describe("store in memory", () => {
  quotaConformance(async () => {
    const { now, pass } = createClock();
    return {
      create: ({ windowMs }) => createMemoryStore({ windowMs, now }),
      now,
      pass: async (milliseconds) => pass(milliseconds),
      [Symbol.asyncDispose]: async () => {},
    };
  });
});

const windowMs = 1_000;
const hits = (store: ReturnType<typeof createMemoryStore>, keys: readonly string[]) =>
  keys.map((key) => store.increment(key).count);

test("at the bound new keys share one overflow counter, and known keys keep their own", () => {
  const { now } = createClock();
  const store = createMemoryStore({ windowMs, maxKeys: 2, now });
  expect(hits(store, ["a", "b", "b"])).toEqual([1, 1, 2]);
  expect(hits(store, ["c", "d", "c", "e"])).toEqual([1, 2, 3, 4]);
  expect(hits(store, ["a", "b"])).toEqual([2, 3]);
  expect(store.size).toBe(2);
});

test("however many keys arrive, memory holds the bound and no more", () => {
  const { now } = createClock();
  const store = createMemoryStore({ windowMs, maxKeys: 1_000, now });
  for (let index = 0; index < 50_000; index++) store.increment(`key ${index}`);
  expect(store.size).toBe(1_000);
  expect(store.increment("key 0").count).toBe(2);
});

test("the bound is 100,000 keys unless told otherwise", () => {
  const store = createMemoryStore({ windowMs: 3_600_000 });
  for (let index = 0; index <= 100_000; index++) store.increment(`key ${index}`);
  expect(store.size).toBe(100_000);
});

test("expiry frees memory at the next new key, and only of windows that have ended", () => {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, now: clock.now });
  for (let index = 0; index < 100; index++) store.increment(`early ${index}`);
  clock.pass(windowMs / 2);
  for (let index = 0; index < 50; index++) store.increment(`late ${index}`);
  clock.pass(windowMs / 2);
  expect(store.increment("fresh").count).toBe(1);
  expect(store.size).toBe(51);
  expect(store.increment("late 0").count).toBe(2);
  expect(store.increment("early 0").count).toBe(1);
});

test("a place that expiry frees goes to the next new key", () => {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, maxKeys: 1, now: clock.now });
  expect(hits(store, ["a", "b", "c"])).toEqual([1, 1, 2]);
  clock.pass(windowMs);
  expect(hits(store, ["b", "b", "a"])).toEqual([1, 2, 1]);
});

test("the overflow counter has a window too", () => {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, maxKeys: 1, now: clock.now });
  store.increment("a");
  clock.pass(windowMs / 2);
  expect(store.increment("b").resetsAt).toBe(clock.now() + windowMs);
  clock.pass(windowMs / 2);
  expect(hits(store, ["c", "d"])).toEqual([1, 2]);
  clock.pass(windowMs / 2);
  expect(hits(store, ["e"])).toEqual([1]);
});

test("a key counts until the last millisecond of its window and not into the next", () => {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, now: clock.now });
  store.increment("a");
  clock.pass(windowMs - 1);
  expect(store.increment("a").count).toBe(2);
  clock.pass(1);
  expect(store.increment("a").count).toBe(1);
});
