/** The tests that every RateLimitStore and every BudgetStore must pass unchanged. */
import { expect, test } from "bun:test";
import type {
  BudgetStore,
  CreateBudgetStore,
  CreateStore,
  RateLimitStore,
} from "../../src/rate-limit/store.ts";

export interface StoreBackend extends AsyncDisposable {
  readonly create: CreateStore;
  readonly createBudgets: CreateBudgetStore;
  /** The backend's clock, in milliseconds since the epoch. */
  now(): number;
  /** Resolves when this much time has passed on that clock. */
  advance(milliseconds: number): Promise<void>;
}

const quota = { name: "login", windowMs: 60_000 };
const budget = { name: "login", attempts: 3, refillMs: 60_000 };
/** A store that reads the clock of another program can be off by the time that the test takes. */
const TOLERANCE_MS = 5_000;

export function storeConformance(open: () => Promise<StoreBackend>): void {
  const counterTest = (name: string, run: (store: RateLimitStore, backend: StoreBackend) => Promise<void>) =>
    test(name, async () => {
      await using backend = await open();
      await run(backend.create(quota), backend);
    });
  const budgetTest = (name: string, run: (store: BudgetStore, backend: StoreBackend) => Promise<void>) =>
    test(name, async () => {
      await using backend = await open();
      await run(backend.createBudgets(budget), backend);
    });

  counterTest("different keys have separate counters", async (store) => {
    await store.increment("10.0.0.1");
    for (const key of ["10.0.0.2", "", "10.0.0.1 ", "__proto__", "2001:db8::"]) {
      expect((await store.increment(key)).count).toBe(1);
    }
    expect((await store.increment("10.0.0.1")).count).toBe(2);
  });

  counterTest("equal quotas with different names have separate counters", async (login, backend) => {
    await login.increment("10.0.0.1");
    const register = backend.create({ ...quota, name: "register" });
    expect((await register.increment("10.0.0.1")).count).toBe(1);
    expect((await login.increment("10.0.0.1")).count).toBe(2);
  });

  counterTest("simultaneous increments return different counts", async (store) => {
    const increments = Array.from({ length: 100 }, async () => store.increment("10.0.0.1"));
    const counts = (await Promise.all(increments)).map(({ count }) => count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  counterTest(
    "a window starts with the first increment, and later ones do not extend it",
    async (store, backend) => {
      const earliest = backend.now() + quota.windowMs;
      const first = await store.increment("10.0.0.1");
      expect(first.resetsAt).toBeGreaterThanOrEqual(earliest);
      expect(first.resetsAt).toBeLessThanOrEqual(backend.now() + quota.windowMs);
      await backend.advance(quota.windowMs / 4);
      const second = await store.increment("10.0.0.1");
      expect(second.count).toBe(2);
      expect(Math.abs(second.resetsAt - first.resetsAt)).toBeLessThan(TOLERANCE_MS);
    },
  );

  counterTest(
    "after the end of its window, a key is counted from one in a new window",
    async (store, backend) => {
      const before = await store.increment("10.0.0.1");
      await store.increment("10.0.0.1");
      await backend.advance(quota.windowMs);
      const after = await store.increment("10.0.0.1");
      expect(after.count).toBe(1);
      expect(after.resetsAt).toBeGreaterThanOrEqual(before.resetsAt + quota.windowMs - TOLERANCE_MS);
    },
  );

  counterTest("an increment can be taken back, which does not change the window", async (store, backend) => {
    const first = await store.increment("10.0.0.1");
    const second = await store.increment("10.0.0.1");
    await store.increment("10.0.0.2");
    await backend.advance(quota.windowMs / 4);
    await first.undo();
    const next = await store.increment("10.0.0.1");
    expect(next.count).toBe(2);
    expect(Math.abs(next.resetsAt - first.resetsAt)).toBeLessThan(TOLERANCE_MS);
    await second.undo();
    await next.undo();
    expect((await store.increment("10.0.0.1")).count).toBe(1);
    expect((await store.increment("10.0.0.2")).count).toBe(2);
  });

  counterTest(
    "an increment that is taken back after the end of its window changes no other",
    async (store, backend) => {
      const counted = await store.increment("10.0.0.1");
      await backend.advance(quota.windowMs);
      await counted.undo();
      expect((await store.increment("10.0.0.1")).count).toBe(1);
    },
  );

  counterTest("20,000 other keys do not reset an exhausted counter", async (store) => {
    for (let count = 1; count <= 5; count++) await store.increment("10.0.0.1");
    for (let batch = 0; batch < 20; batch++) {
      const keys = Array.from({ length: 1_000 }, (_, index) => `other ${batch * 1_000 + index}`);
      await Promise.all(keys.map(async (key) => store.increment(key)));
    }
    expect((await store.increment("10.0.0.1")).count).toBe(6);
  });

  budgetTest(
    "a budget has its attempts at once, then returns the time until the next one",
    async (store, backend) => {
      expect([await store.take("a"), await store.take("a"), await store.take("a")]).toEqual([0, 0, 0]);
      expect(await store.take("a")).toBeWithin(budget.refillMs - TOLERANCE_MS, budget.refillMs + 1);
      await backend.advance(budget.refillMs / 2);
      // A rejected attempt deducts nothing, so the wait only becomes shorter.
      expect(await store.take("a")).toBeWithin(budget.refillMs / 2 - TOLERANCE_MS, budget.refillMs / 2 + 1);
      await backend.advance(budget.refillMs / 2);
      expect(await store.take("a")).toBe(0);
      expect(await store.take("a")).toBeGreaterThan(0);
    },
  );

  budgetTest(
    "an empty budget that nobody uses has all of its attempts again after the refill, and no more",
    async (store, backend) => {
      const takeFour = async () => {
        const waits: number[] = [];
        for (let count = 0; count < 4; count++) waits.push(await store.take("a"));
        return waits.map((wait) => wait === 0);
      };
      expect(await takeFour()).toEqual([true, true, true, false]);
      await backend.advance(2 * budget.refillMs);
      expect(await takeFour()).toEqual([true, true, false, false]);
      await backend.advance(3 * budget.refillMs);
      expect(await takeFour()).toEqual([true, true, true, false]);
      await backend.advance(100 * budget.refillMs);
      expect(await takeFour()).toEqual([true, true, true, false]);
    },
  );

  budgetTest("simultaneous attempts get no more than the budget", async (store) => {
    const waits = await Promise.all(Array.from({ length: 100 }, async () => store.take("a")));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(budget.attempts);
  });

  budgetTest(
    "budgets of different keys and names, and counters of the same key, are separate",
    async (store, backend) => {
      const others = ["b", "", "a ", "__proto__"];
      for (const key of ["a", "a", "a", ...others]) expect(await store.take(key)).toBe(0);
      expect(await backend.createBudgets({ ...budget, name: "other" }).take("a")).toBe(0);
      expect((await backend.create(quota).increment("a")).count).toBe(1);
      expect(await store.take("a")).toBeGreaterThan(0);
    },
  );
}
