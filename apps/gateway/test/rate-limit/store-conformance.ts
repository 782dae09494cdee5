/** The tests that every RateLimitStore must pass unchanged. */
import { expect, test } from "bun:test";
import type { CreateStore } from "../../src/rate-limit/store.ts";

export interface StoreBackend extends AsyncDisposable {
  readonly create: CreateStore;
  /** The backend's clock, in milliseconds since the epoch. */
  now(): number;
  /** Resolves when this much time has passed on that clock. */
  advance(milliseconds: number): Promise<void>;
}

const quota = { name: "login", windowMs: 60_000 };
const SHORT_MS = 100;

export function storeConformance(open: () => Promise<StoreBackend>): void {
  test("a key is counted from one", async () => {
    await using backend = await open();
    const store = backend.create(quota);
    for (const count of [1, 2, 3]) expect((await store.increment("10.0.0.1")).count).toBe(count);
  });

  test("different keys have separate counters", async () => {
    await using backend = await open();
    const store = backend.create(quota);
    await store.increment("10.0.0.1");
    for (const key of ["10.0.0.2", "", "10.0.0.1 ", "__proto__", "2001:db8::"]) {
      expect((await store.increment(key)).count).toBe(1);
    }
    expect((await store.increment("10.0.0.1")).count).toBe(2);
  });

  test("equal quotas with different names have separate counters", async () => {
    await using backend = await open();
    const [login, register] = [backend.create(quota), backend.create({ ...quota, name: "register" })];
    await login.increment("10.0.0.1");
    expect((await register.increment("10.0.0.1")).count).toBe(1);
    expect((await login.increment("10.0.0.1")).count).toBe(2);
  });

  test("simultaneous increments return different counts", async () => {
    await using backend = await open();
    const store = backend.create(quota);
    const increments = Array.from({ length: 100 }, async () => store.increment("10.0.0.1"));
    const counts = (await Promise.all(increments)).map(({ count }) => count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("a window starts with the first increment, and later ones do not extend it", async () => {
    await using backend = await open();
    const store = backend.create({ ...quota, windowMs: SHORT_MS });
    const earliest = backend.now() + SHORT_MS;
    const first = await store.increment("10.0.0.1");
    expect(first.resetsAt).toBeGreaterThanOrEqual(earliest);
    expect(first.resetsAt).toBeLessThanOrEqual(backend.now() + SHORT_MS);
    await backend.advance(SHORT_MS / 4);
    const second = await store.increment("10.0.0.1");
    expect(second.count).toBe(2);
    // A store that reports the remaining time instead of the end can be off by a millisecond.
    expect(Math.abs(second.resetsAt - first.resetsAt)).toBeLessThanOrEqual(2);
  });

  test("after the end of its window, a key is counted from one in a new window", async () => {
    await using backend = await open();
    const store = backend.create({ ...quota, windowMs: SHORT_MS });
    const before = await store.increment("10.0.0.1");
    await store.increment("10.0.0.1");
    await backend.advance(SHORT_MS);
    const after = await store.increment("10.0.0.1");
    expect(after.count).toBe(1);
    expect(after.resetsAt).toBeGreaterThanOrEqual(before.resetsAt + SHORT_MS - 2);
  });

  test("a decrement takes back one increment, never more, and does not change the window", async () => {
    await using backend = await open();
    const store = backend.create({ ...quota, windowMs: SHORT_MS });
    await store.decrement("10.0.0.1");
    const first = await store.increment("10.0.0.1");
    await store.increment("10.0.0.1");
    await store.increment("10.0.0.2");
    await backend.advance(SHORT_MS / 4);
    await store.decrement("10.0.0.1");
    const next = await store.increment("10.0.0.1");
    expect(next.count).toBe(2);
    expect(Math.abs(next.resetsAt - first.resetsAt)).toBeLessThanOrEqual(2);
    for (let count = 1; count <= 5; count++) await store.decrement("10.0.0.1");
    expect((await store.increment("10.0.0.1")).count).toBe(1);
    expect((await store.increment("10.0.0.2")).count).toBe(2);
  });

  test("20,000 other keys do not reset an exhausted counter", async () => {
    await using backend = await open();
    const store = backend.create(quota);
    for (let count = 1; count <= 5; count++) await store.increment("10.0.0.1");
    for (let batch = 0; batch < 20; batch++) {
      const keys = Array.from({ length: 1_000 }, (_, index) => `other ${batch * 1_000 + index}`);
      await Promise.all(keys.map(async (key) => store.increment(key)));
    }
    expect((await store.increment("10.0.0.1")).count).toBe(6);
  });
}
