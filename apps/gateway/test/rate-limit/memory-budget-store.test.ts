/** BudgetStore in this process: bounded, and dropping a budget never gives back an attempt. */
import { expect, test } from "bun:test";
import { createMemoryBudgetStore } from "../../src/rate-limit/memory-budget-store.ts";
import { createClock } from "../support/clock.ts";

const refillMs = 60_000;
const attempts = 3;

/** A store for 100 budgets, and a way to take from one of them several times: true for each attempt that was deducted. */
function createStore() {
  const clock = createClock();
  const store = createMemoryBudgetStore({ attempts, refillMs, maxKeys: 100, now: clock.now });
  const take = (key: string, times = 1) => Array.from({ length: times }, () => store.take(key) === 0);
  const fill = (prefix: string, count: number, times: number) => {
    for (let index = 0; index < count; index++) take(`${prefix} ${index}`, times);
  };
  return { clock, store, take, fill };
}

test("a full store drops the budgets with the most attempts left", () => {
  const { store, take, fill } = createStore();
  take("empty", 3);
  fill("one left", 39, 2);
  fill("two left", 60, 1);
  take("new");
  expect(store.size).toBeLessThan(100);
  expect(take("empty")).toEqual([false]);
  expect(take("one left 38", 2)).toEqual([true, false]);
});

test("no number of other keys gives back an attempt of an empty budget", () => {
  for (const times of [1, 2, 3, 4]) {
    const { clock, store, take, fill } = createStore();
    expect(take("victim", 4)).toEqual([true, true, true, false]);
    // Later budgets are full later, so that the victim's is dropped first.
    clock.advance(1);
    fill("other", 1_000, times);
    expect(store.size).toBeLessThanOrEqual(100);
    expect(take("victim")).toEqual([false]);
    clock.advance(refillMs);
    expect(take("victim", 2)).toEqual([true, false]);
  }
});

test("after the refill, keys that were dropped or never stored have all of their attempts again", () => {
  const { clock, take, fill } = createStore();
  fill("other", 1_000, 3);
  expect(take("new", 3)).not.toEqual([true, true, true]);
  clock.advance(attempts * refillMs);
  expect(take("new", 4)).toEqual([true, true, true, false]);
  expect(take("other 5", 4)).toEqual([true, true, true, false]);
});

test("when full budgets are dropped, other keys keep all of their attempts", () => {
  const { clock, take, fill } = createStore();
  fill("old", 50, 3);
  clock.advance(attempts * refillMs);
  fill("other", 60, 1);
  expect(take("new", 4)).toEqual([true, true, true, false]);
});

test("the time until the next attempt is exact", () => {
  const { clock, store, take } = createStore();
  take("a");
  clock.advance(1_234);
  take("a", 2);
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
