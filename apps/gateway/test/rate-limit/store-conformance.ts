/** What store are, whatever holds them: every store passes these tests unchanged. */
import { expect, test } from "bun:test";
import type { CreateStore } from "../../src/rate-limit/store.ts";

export interface CountersStore extends AsyncDisposable {
  readonly create: CreateStore;
  /** The store's clock, in milliseconds since the epoch. */
  now(): number;
  /** Returns when this much time has passed on that clock. */
  pass(milliseconds: number): Promise<void>;
}

const quota = { name: "login", windowMs: 60_000 };
const SHORT_MS = 100;

export function quotaConformance(open: () => Promise<CountersStore>): void {
  test("a key counts up from one", async () => {
    await using stores = await open();
    const store = stores.create(quota);
    for (const count of [1, 2, 3]) expect((await store.increment("10.0.0.1")).count).toBe(count);
  });

  test("keys do not count for each other", async () => {
    await using stores = await open();
    const store = stores.create(quota);
    await store.increment("10.0.0.1");
    for (const key of ["10.0.0.2", "", "10.0.0.1 ", "__proto__", "2001:db8::"]) {
      expect((await store.increment(key)).count).toBe(1);
    }
    expect((await store.increment("10.0.0.1")).count).toBe(2);
  });

  test("equal quotas of different names stay separate store", async () => {
    await using stores = await open();
    const [login, register] = [stores.create(quota), stores.create({ ...quota, name: "register" })];
    await login.increment("10.0.0.1");
    expect((await register.increment("10.0.0.1")).count).toBe(1);
    expect((await login.increment("10.0.0.1")).count).toBe(2);
  });

  test("of hits at once each gets a count of its own", async () => {
    await using stores = await open();
    const store = stores.create(quota);
    const hits = await Promise.all(Array.from({ length: 100 }, async () => store.increment("10.0.0.1")));
    const counts = hits.map(({ count }) => count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("the window starts with the first hit, and later ones do not extend it", async () => {
    await using stores = await open();
    const store = stores.create({ ...quota, windowMs: SHORT_MS });
    const earliest = stores.now() + SHORT_MS;
    const first = await store.increment("10.0.0.1");
    expect(first.resetsAt).toBeGreaterThanOrEqual(earliest);
    expect(first.resetsAt).toBeLessThanOrEqual(stores.now() + SHORT_MS);
    await stores.pass(SHORT_MS / 4);
    const second = await store.increment("10.0.0.1");
    expect(second.count).toBe(2);
    // A store that tells the time left instead of the end may be a millisecond off.
    expect(Math.abs(second.resetsAt - first.resetsAt)).toBeLessThanOrEqual(2);
  });

  test("once the window has ended the key counts from one in a window of its own", async () => {
    await using stores = await open();
    const store = stores.create({ ...quota, windowMs: SHORT_MS });
    const before = await store.increment("10.0.0.1");
    await store.increment("10.0.0.1");
    await stores.pass(SHORT_MS);
    const after = await store.increment("10.0.0.1");
    expect(after.count).toBe(1);
    expect(after.resetsAt).toBeGreaterThanOrEqual(before.resetsAt + SHORT_MS - 2);
  });

  test("20,000 other keys do not free an exhausted one", async () => {
    await using stores = await open();
    const store = stores.create(quota);
    for (let hit = 0; hit < 5; hit++) await store.increment("10.0.0.1");
    for (let batch = 0; batch < 20; batch++) {
      const keys = Array.from({ length: 1_000 }, (_, index) => `other ${batch * 1_000 + index}`);
      await Promise.all(keys.map(async (key) => store.increment(key)));
    }
    expect((await store.increment("10.0.0.1")).count).toBe(6);
  });
}
