/** BudgetStore in this process: of fixed size, and no number of other keys gives back an attempt. */
import { expect, test } from "bun:test";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createClock } from "../support/clock.ts";

const refillMs = 60_000;

test("when 100,000 budgets are empty, no empty one gets an attempt back, and 98 % of the other keys keep all of theirs", () => {
  const clock = createClock();
  const store = createMemoryBudgetStore({ attempts: 2, refillMs, now: clock.now });
  const take = (key: string, times: number) => Array.from({ length: times }, () => store.take(key) === 0);
  expect(take("victim", 3)).toEqual([true, true, false]);
  // Later budgets are full later.
  clock.advance(1);
  for (let index = 0; index < 100_000; index++) take(`attacked ${index}`, 2);
  expect(take("victim", 1)).toEqual([false]);
  const others = Array.from({ length: 1_000 }, (_, index) => take(`other ${index}`, 2));
  expect(others.filter((taken) => taken.every(Boolean)).length).toBeGreaterThan(980);
  clock.advance(refillMs);
  expect(take("victim", 2)).toEqual([true, false]);
});

test("the time until the next attempt is exact", () => {
  const clock = createClock();
  const store = createMemoryBudgetStore({ attempts: 3, refillMs, now: clock.now });
  store.take("a");
  clock.advance(1_234);
  store.take("a");
  store.take("a");
  expect(store.take("a")).toBe(refillMs - 1_234);
  clock.advance(refillMs - 1_235);
  expect(store.take("a")).toBe(1);
  clock.advance(1);
  expect(store.take("a")).toBe(0);
  expect(store.take("a")).toBe(refillMs);
});

test("a budget of ten attempts and one every 15 minutes allows 106 attempts in a day", () => {
  const clock = createClock();
  const store = createMemoryBudgetStore({ attempts: 10, refillMs: 15 * 60_000, now: clock.now });
  let deducted = 0;
  for (let second = 0; second <= 24 * 60 * 60; second++) {
    if (store.take("a") === 0) deducted += 1;
    clock.advance(1_000);
  }
  expect(deducted).toBe(106);
});
