/** The planner picks the smallest group whose cost per lane is close to the lowest, resists noise and remeasures old costs. */
import { describe, expect, test } from "bun:test";
import { VariantPlanner } from "../../src/kernel/variant-planner.ts";
import { recorded } from "../fixtures/recorded-addon.ts";

/** Sixteen lanes are cheapest by far, but not if they take twice the time. */
const ZEN_5 = recorded("AMD Zen 5", "sha", "avx512").filter(({ width }) => width <= 16);
const costs = new Map(ZEN_5.map(({ id, seconds }) => [id, seconds]));

describe("VariantPlanner", () => {
  test.each([
    ["AMD Zen 5", { 1: 1, 2: 2, 3: 2, 4: 4, 8: 4, 9: 16, 16: 16, 26: 16, 27: 32, 32: 32 }],
    ["AMD Zen 4", { 1: 1, 2: 2, 3: 2, 4: 4, 11: 4, 12: 16, 16: 16 }],
    ["Intel Xeon", { 1: 1, 2: 2, 7: 8, 12: 8, 13: 16, 32: 16 }],
    ["Arm Cortex-A76", { 1: 1, 2: 2, 3: 2, 4: 2 }],
    ["pathological", { 1: 1, 13: 1, 15: 16, 16: 16 }],
  ] as const)("plans the widths of groups for any number of lanes with the costs of %s", (name, widths) => {
    const planner = new VariantPlanner(recorded(name));
    const planned = Object.keys(widths).map((lanes) => planner.chooseMeasured(Number(lanes)).width);
    expect(planned).toEqual(Object.values(widths));
  });

  test.each([
    ["AMD Zen 5", 32],
    ["AMD Zen 4", 16],
    ["Intel Xeon", 16],
    ["Arm Cortex-A76", 4],
  ] as const)("with the costs of %s, a worker has %d lanes", (name, lanes) => {
    expect(new VariantPlanner(recorded(name)).lanes).toBe(lanes);
  });

  test("ignores one interrupted slice, but not a lasting change", () => {
    const planner = new VariantPlanner(ZEN_5);
    const sixteen = planner.chooseMeasured(16);
    const { seconds } = sixteen;
    for (const slowdown of [1, 1, 1, 1, 20]) planner.record(sixteen, slowdown * seconds);
    expect(planner.chooseMeasured(16).width).toBe(16);
    for (let slice = 0; slice < 5; slice++) planner.record(sixteen, 2 * seconds);
    expect(planner.chooseMeasured(16).width).toBe(4);
  });

  test("returns to a kernel that was slow only for a while", () => {
    const planner = new VariantPlanner(ZEN_5);
    const run = (slices: number, slowdown: number) => {
      for (let slice = 0; slice < slices; slice++) {
        const variant = planner.choose(16);
        planner.record(variant, (variant.width === 16 ? slowdown : 1) * (costs.get(variant.id) ?? 0));
      }
    };
    run(50, 2);
    expect(planner.chooseMeasured(16).width).toBe(4);
    run(2_000, 1);
    expect(planner.chooseMeasured(16).width).toBe(16);
  });

  test("explores other plans in less than one slice of a hundred", () => {
    const planner = new VariantPlanner(ZEN_5);
    let explored = 0;
    for (let slice = 0; slice < 1_000; slice++) {
      const occupied = 1 + (slice % 16);
      const variant = planner.choose(occupied);
      planner.record(variant, costs.get(variant.id) ?? 0);
      if (variant.id !== planner.chooseMeasured(occupied).id) explored += 1;
    }
    expect(explored).toBeLessThan(10);
  });
});
