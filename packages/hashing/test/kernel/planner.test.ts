/** The planner picks the cheapest measured combination, resists noise and remeasures old costs. */
import { describe, expect, test } from "bun:test";
import { type Plan, Planner } from "../../src/kernel/planner.ts";

const WIDTHS = [16, 1, 2, 4];
/** Milliseconds for 600,000 iterations; only the ratios matter. */
const COSTS = [250, 42.5, 53, 94];

const createPlanner = (costs: readonly number[] = COSTS) =>
  new Planner(WIDTHS.map((width, variant) => ({ width, seconds: costs[variant] ?? 0 })));
const widthsOf = (plan: Plan) => plan.map((variant) => WIDTHS[variant] ?? 0).toSorted((a, b) => b - a);

describe("Planner", () => {
  test.each([
    [1, [1]],
    [2, [2]],
    [3, [4]],
    [4, [4]],
    [5, [4, 1]],
    [6, [4, 2]],
    [8, [4, 4]],
    [10, [4, 4, 2]],
    [11, [16]],
    [16, [16]],
  ])("plans %p lanes with the costs of a real processor as widths %p", (occupied, widths) => {
    expect(widthsOf(createPlanner().settledPlan(occupied))).toEqual(widths);
  });

  test("always returns the cheapest plan", () => {
    const costs = [170, 60, 61, 62];
    const planner = createPlanner(costs);
    /** The minimum over all combinations. */
    const cheapest = (lanes: number): number =>
      lanes <= 0
        ? 0
        : Math.min(...WIDTHS.map((width, index) => (costs[index] ?? 0) + cheapest(lanes - width)));
    for (let lanes = 1; lanes <= 16; lanes++) {
      expect(planner.secondsOf(planner.settledPlan(lanes))).toBe(cheapest(lanes));
    }
  });

  test("ignores one interrupted slice, but not a lasting change", () => {
    const planner = createPlanner();
    for (let slice = 0; slice < 5; slice++) planner.record(0, 250);
    planner.record(0, 5_000);
    expect(widthsOf(planner.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) planner.record(0, 500);
    expect(widthsOf(planner.settledPlan(16))).toEqual([4, 4, 4, 4]);
  });

  test("keeps its plan if another one is faster by less than the noise", () => {
    const planner = createPlanner();
    expect(widthsOf(planner.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) planner.record(0, 4 * 94 * 1.04);
    expect(widthsOf(planner.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) planner.record(0, 4 * 94 * 1.06);
    expect(widthsOf(planner.settledPlan(16))).toEqual([4, 4, 4, 4]);
  });

  test("returns to a kernel that was slow only for a while", () => {
    const planner = createPlanner();
    const costsNow = [...COSTS];
    const run = (slices: number) => {
      for (let slice = 0; slice < slices; slice++) {
        for (const variant of planner.plan(16)) planner.record(variant, costsNow[variant] ?? 0);
      }
    };
    costsNow[0] = 500;
    run(50);
    expect(widthsOf(planner.settledPlan(16))).toEqual([4, 4, 4, 4]);
    costsNow[0] = 250;
    run(2_000);
    expect(widthsOf(planner.settledPlan(16))).toEqual([16]);
  });

  test("corrects a wrong initial measurement", () => {
    const planner = createPlanner([1_000, 42.5, 53, 400]);
    expect(widthsOf(planner.settledPlan(4))).toEqual([2, 2]);
    for (let slice = 0; slice < 500; slice++) {
      for (const variant of planner.plan(4)) planner.record(variant, COSTS[variant] ?? 0);
    }
    expect(widthsOf(planner.settledPlan(4))).toEqual([4]);
  });

  test("explores other plans in less than one slice of a hundred, with room for every lane", () => {
    const planner = createPlanner();
    let explored = 0;
    for (let slice = 0; slice < 1_000; slice++) {
      const occupied = 1 + (slice % 16);
      const plan = planner.plan(occupied);
      for (const variant of plan) planner.record(variant, COSTS[variant] ?? 0);
      if (planner.secondsOf(plan) > planner.secondsOf(planner.settledPlan(occupied))) explored += 1;
      expect(plan.reduce((sum, variant) => sum + (WIDTHS[variant] ?? 0), 0)).toBeGreaterThanOrEqual(occupied);
    }
    expect(explored).toBeLessThan(10);
  });
});
