/** The stores in this process. RateLimitStore: bounded, and a live counter is never dropped to make room. */
import { describe, expect, test } from "bun:test";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createMemoryStore } from "../../src/rate-limit/memory-store.ts";
import { createClock } from "../support/clock.ts";
import { storeConformance } from "./store-conformance.ts";

describe("memory store", () => {
  storeConformance(async () => {
    const { now, advance } = createClock();
    return {
      create: ({ windowMs }) => createMemoryStore({ windowMs, now }),
      createBudgets: (budget) => createMemoryBudgetStore({ ...budget, now }),
      now,
      advance: async (milliseconds) => advance(milliseconds),
      [Symbol.asyncDispose]: async () => {},
    };
  });
});

const windowMs = 1_000;

/** A store whose counters of single keys are all in use, and a way to count keys in it. */
function createFullStore(maxKeys = 100) {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, maxKeys, now: clock.now });
  const count = (...keys: string[]) => keys.map((key) => store.increment(key).count);
  for (let index = 0; index < maxKeys; index++) store.increment(`first ${index}`);
  return { store, clock, count };
}

describe("when all counters are in use", () => {
  test("new clients of one IPv6 /48, of one IPv4 /24, and keys that are not addresses share a counter", () => {
    const { count } = createFullStore();
    expect(count("2001:db8:1::", "2001:db8:1:2::", "2001:db8:1:ffff::")).toEqual([1, 2, 3]);
    expect(count("192.0.2.0", "192.0.2.128", "192.0.2.255")).toEqual([1, 2, 3]);
    expect(count("1", "unknown", "2")).toEqual([1, 2, 3]);
    expect(count("2001:db8:2::", "2001:db9:1::", "192.0.3.0", "192.1.2.0")).toEqual([1, 1, 1, 1]);
  });

  test("keys that were counted before keep their counters", () => {
    const { count } = createFullStore();
    expect(count("new", "new")).toEqual([1, 2]);
    expect(count("first 0", "first 99", "first 0")).toEqual([2, 2, 3]);
  });

  test("a network's counter has a window of the same length", () => {
    const { store, clock, count } = createFullStore();
    clock.advance(windowMs / 2);
    expect(store.increment("192.0.2.1").resetsAt).toBe(clock.now() + windowMs);
    expect(count("192.0.2.2")).toEqual([2]);
    clock.advance(windowMs);
    for (let index = 0; index < 100; index++) store.increment(`second ${index}`);
    expect(count("192.0.2.3")).toEqual([1]);
  });

  test("a counter that expires is available to the next new key", () => {
    const { clock, count } = createFullStore(1);
    expect(count("192.0.2.1", "192.0.2.2")).toEqual([1, 2]);
    clock.advance(windowMs);
    expect(count("192.0.2.2", "192.0.2.2", "192.0.2.1")).toEqual([1, 2, 1]);
  });
});

test("an IPv6 /47 that uses all counters of single keys leaves a counter to every other network", () => {
  const store = createMemoryStore({ windowMs: 60_000 });
  for (let index = 0; index < 2 ** 17; index++) {
    const network = index < 2 ** 16 ? "2001:db8:0" : "2001:db8:1";
    store.increment(`${network}:${(index % 2 ** 16).toString(16)}::`);
  }
  expect(store.size).toBe(100_001);
  for (const newcomer of ["2001:db8:2::", "2a00::", "198.51.100.7"]) {
    expect(store.increment(newcomer).count).toBe(1);
  }
});

test("when the counters of /48 and /24 networks are also in use, new clients are counted by /32 and /16, then together", () => {
  const { store, count } = createFullStore(2);
  expect(count("2001:db8:1::", "2001:db8:2::")).toEqual([1, 1]);
  expect(count("2001:db8:3::", "2001:db8:4::", "192.0.2.0", "192.0.3.0")).toEqual([1, 2, 1, 2]);
  expect(count("2001:db8:1:1::")).toEqual([2]);
  expect(count("2001:db9::", "198.51.100.7", "2a00::")).toEqual([1, 2, 3]);
  expect(store.size).toBe(6);
});

test("expired counters are dropped when a key is new, live ones are not", () => {
  const clock = createClock();
  const store = createMemoryStore({ windowMs, now: clock.now });
  for (let index = 0; index < 100; index++) store.increment(`early ${index}`);
  clock.advance(windowMs / 2);
  for (let index = 0; index < 50; index++) store.increment(`late ${index}`);
  clock.advance(windowMs / 2);
  expect(store.increment("new").count).toBe(1);
  expect(store.size).toBe(51);
  expect(store.increment("late 0").count).toBe(2);
  expect(store.increment("early 0").count).toBe(1);
});

test("of many counters that expire at once, each new key drops at most a hundred, and one that is counted again is kept", () => {
  const { store, clock, count } = createFullStore(300);
  clock.advance(windowMs);
  expect(count("first 299")).toEqual([1]);
  expect(store.size).toBe(200);
  expect(count("new 1", "new 2")).toEqual([1, 1]);
  expect(store.size).toBe(3);
  expect(count("first 299")).toEqual([2]);
});
