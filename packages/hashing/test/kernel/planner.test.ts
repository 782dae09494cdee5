/** Which kernels a slice uses: the cheapest by what was measured, steady against noise, and never by a stale cost. */
import { describe, expect, test } from "bun:test";
import { Chooser, type Plan } from "../src/kernel/chooser.ts";

const WIDTHS = [16, 1, 2, 4].map((width) => ({ width }));
/** Milliseconds of 600,000 iterations; only their relations matter. */
const COSTS = [250, 42.5, 53, 94];

const widthsOf = (plan: Plan) => plan.map((variant) => WIDTHS[variant]?.width ?? 0).toSorted((a, b) => b - a);

describe("Chooser", () => {
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
  ])("%p lanes with the costs of one processor: widths %p", (occupied, widths) => {
    expect(widthsOf(new Chooser(WIDTHS, COSTS).settledPlan(occupied))).toEqual(widths);
  });

  test("a plan is never dearer than any other, whatever the costs", () => {
    const costs = [170, 60, 61, 62];
    const chooser = new Chooser(WIDTHS, costs);
    /** Every combination, tried out. */
    const cheapest = (lanes: number): number =>
      lanes <= 0
        ? 0
        : Math.min(...WIDTHS.map(({ width }, index) => (costs[index] ?? 0) + cheapest(lanes - width)));
    for (let lanes = 1; lanes <= 16; lanes++) {
      expect(chooser.secondsOf(chooser.settledPlan(lanes))).toBe(cheapest(lanes));
    }
  });

  test("one interrupted slice changes nothing; a lasting change does", () => {
    const chooser = new Chooser(WIDTHS, COSTS);
    for (let slice = 0; slice < 5; slice++) chooser.record(0, 250);
    chooser.record(0, 5_000);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) chooser.record(0, 500);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([4, 4, 4, 4]);
  });

  test("an advantage within the noise does not change the plan", () => {
    const chooser = new Chooser(WIDTHS, COSTS);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) chooser.record(0, 4 * 94 * 1.04);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([16]);
    for (let slice = 0; slice < 5; slice++) chooser.record(0, 4 * 94 * 1.06);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([4, 4, 4, 4]);
  });

  test("a kernel that was slow for a while is tried again", () => {
    const chooser = new Chooser(WIDTHS, COSTS);
    const costsNow = [...COSTS];
    const run = (slices: number) => {
      for (let slice = 0; slice < slices; slice++) {
        for (const variant of chooser.plan(16)) chooser.record(variant, costsNow[variant] ?? 0);
      }
    };
    costsNow[0] = 500;
    run(50);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([4, 4, 4, 4]);
    costsNow[0] = 250;
    run(2_000);
    expect(widthsOf(chooser.settledPlan(16))).toEqual([16]);
  });

  test("a first measurement that was disturbed does not hold for long", () => {
    const chooser = new Chooser(WIDTHS, [1_000, 42.5, 53, 400]);
    expect(widthsOf(chooser.settledPlan(4))).toEqual([2, 2]);
    for (let slice = 0; slice < 500; slice++) {
      for (const variant of chooser.plan(4)) chooser.record(variant, COSTS[variant] ?? 0);
    }
    expect(widthsOf(chooser.settledPlan(4))).toEqual([4]);
  });

  test("others are tried out in less than one slice of a hundred, with room for every lane", () => {
    const chooser = new Chooser(WIDTHS, COSTS);
    let tried = 0;
    for (let slice = 0; slice < 1_000; slice++) {
      const occupied = 1 + (slice % 16);
      const plan = chooser.plan(occupied);
      for (const variant of plan) chooser.record(variant, COSTS[variant] ?? 0);
      if (chooser.secondsOf(plan) > chooser.secondsOf(chooser.settledPlan(occupied))) tried += 1;
      expect(plan.reduce((sum, variant) => sum + (WIDTHS[variant]?.width ?? 0), 0)).toBeGreaterThanOrEqual(
        occupied,
      );
    }
    expect(tried).toBeLessThan(10);
  });
});
