/** The planner picks the smallest group whose cost per lane is close to the lowest, resists noise and remeasures old costs. */
import { describe, expect, test } from "bun:test";
import { VariantPlanner } from "../../src/kernel/variant-planner.ts";

const WIDTHS = [16, 1, 2, 4, 8];
/** Milliseconds for 600,000 iterations; only the ratios matter. On Zen 5, sixteen lanes are cheapest by far. */
const COSTS = [250, 42.5, 53, 94];
/** On Zen 4, four lanes are as cheap as sixteen. */
const ZEN_4 = [304, 42.6, 45.8, 74];

/** On Intel, a wide register is cheaper per lane than SHA instructions, and eight lanes are cheap while few are busy. */
const INTEL = [248, 45, 59.6, 119, 174];

const createPlanner = (costs: readonly number[] = COSTS) =>
  new VariantPlanner(costs.map((seconds, id) => ({ id, family: "test", width: WIDTHS[id] ?? 0, seconds })));

describe("VariantPlanner", () => {
  test.each([
    ["Zen 5", COSTS, { 1: 1, 2: 2, 3: 2, 4: 4, 10: 4, 12: 16, 16: 16 }],
    ["Zen 4", ZEN_4, { 1: 1, 2: 2, 3: 2, 4: 4, 16: 4 }],
    ["Intel", INTEL, { 6: 2, 7: 8, 11: 8, 12: 16 }],
  ])(
    "plans the widths of groups for any number of lanes with the costs of %s",
    (_processor, costs, widths) => {
      const planned = Object.keys(widths).map(
        (lanes) => createPlanner(costs).chooseMeasured(Number(lanes)).width,
      );
      expect(planned).toEqual(Object.values(widths));
    },
  );

  test.each([
    [1.04, 4],
    [1.06, 16],
  ])(
    "prefers four lanes to sixteen if they cost %p times as much per lane: width %p, whichever was used before",
    (ratio, width) => {
      for (const before of [100, 400]) {
        const planner = createPlanner([before, 100, 100, 50]);
        planner.chooseMeasured(16);
        for (let slice = 0; slice < 5; slice++) planner.record({ id: 0 }, (4 * 50) / ratio);
        expect(planner.chooseMeasured(16).width).toBe(width);
      }
    },
  );

  test("ignores one interrupted slice, but not a lasting change", () => {
    const planner = createPlanner();
    for (let slice = 0; slice < 5; slice++) planner.record({ id: 0 }, 250);
    planner.record({ id: 0 }, 5_000);
    expect(planner.chooseMeasured(16).width).toBe(16);
    for (let slice = 0; slice < 5; slice++) planner.record({ id: 0 }, 500);
    expect(planner.chooseMeasured(16).width).toBe(4);
  });

  test("returns to a kernel that was slow only for a while", () => {
    const planner = createPlanner();
    const costsNow = [...COSTS];
    const run = (slices: number) => {
      for (let slice = 0; slice < slices; slice++) {
        const variant = planner.choose(16);
        planner.record(variant, costsNow[variant.id] ?? 0);
      }
    };
    costsNow[0] = 500;
    run(50);
    expect(planner.chooseMeasured(16).width).toBe(4);
    costsNow[0] = 250;
    run(2_000);
    expect(planner.chooseMeasured(16).width).toBe(16);
  });

  test("corrects a wrong initial measurement", () => {
    const planner = createPlanner([1_000, 42.5, 53, 400]);
    expect(planner.chooseMeasured(4).width).toBe(2);
    for (let slice = 0; slice < 500; slice++) {
      const variant = planner.choose(4);
      planner.record(variant, COSTS[variant.id] ?? 0);
    }
    expect(planner.chooseMeasured(4).width).toBe(4);
  });

  test("explores other plans in less than one slice of a hundred", () => {
    const planner = createPlanner();
    let explored = 0;
    for (let slice = 0; slice < 1_000; slice++) {
      const occupied = 1 + (slice % 16);
      const variant = planner.choose(occupied);
      planner.record(variant, COSTS[variant.id] ?? 0);
      if (variant.id !== planner.chooseMeasured(occupied).id) explored += 1;
    }
    expect(explored).toBeLessThan(10);
  });
});
