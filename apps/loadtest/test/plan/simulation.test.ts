/** The simulation against manual calculations and against queueing theory. */
import { describe, expect, test } from "bun:test";
import { arrivalTimes } from "../../src/load/arrivals.ts";
import { stationary } from "../../src/plan/queueing-theory.ts";
import { groupsOf, type ServiceModel } from "../../src/plan/service-model.ts";
import { percentile, simulate } from "../../src/plan/simulation.ts";

/** By default all busy lanes advance together. */
const service = ({ laneMs = [100], ...changes }: Partial<ServiceModel>): ServiceModel => ({
  workers: 1,
  laneMs,
  groups: laneMs.map((_, index) => index + 1),
  sliceMs: 6,
  queueLimit: 1000,
  ...changes,
});

const latencies = (model: ServiceModel, arrivals: readonly number[]): number[] =>
  Array.from(
    simulate({ service: model, arrivals, warmUpMs: 0 }).latenciesMs,
    (ms) => Math.round(ms * 1e6) / 1e6,
  );

const poisson = (ratePerSecond: number, durationSeconds: number, seed = 1) =>
  arrivalTimes({ ratePerSecond, arrivals: "poisson", durationSeconds, seed });

describe("calculated manually", () => {
  test("a single login takes the duration of a single lane", () => {
    expect(latencies(service({ laneMs: [45, 48] }), [0, 1000])).toEqual([45, 45]);
  });

  test("with one lane, the second login waits for the first", () => {
    expect(latencies(service({}), [0, 30])).toEqual([100, 170]);
  });

  test("with two lanes, two logins advance together after the slice", () => {
    // 6 of 100 ms alone, then 94 % of a login at 150 ms, then the second's last 6 % alone; it waited from 1 to 6.
    const model = service({ laneMs: [100, 150] });
    expect(latencies(model, [0, 1])).toEqual([147, 152]);
    expect(latencies({ ...model, sliceMs: 0 }, [0, 1])).toEqual([149.5, 149.5]);
  });

  test("a group of one finishes the oldest login first, at the speed of all busy lanes", () => {
    const model = service({ laneMs: [100, 200, 240], groups: [1, 1, 1], sliceMs: 0 });
    // Three logins at 80 ms each, two at 100.
    expect(latencies(model, [0, 0, 0])).toEqual([80, 180, 280]);
    expect(latencies({ ...model, groups: [1, 2, 3] }, [0, 0, 0])).toEqual([240, 240, 240]);
  });

  test("a slice ends early when a login is complete, and its lane is filled immediately", () => {
    expect(latencies(service({ sliceMs: 60 }), [0, 10])).toEqual([100, 190]);
  });

  test("an arrival is assigned to the worker with the fewest logins", () => {
    const model = service({ workers: 2, laneMs: [100, 200] });
    expect(latencies(model, [0, 0])).toEqual([100, 100]);
    expect(latencies(service({ workers: 2 }), [0, 10, 20, 30])).toEqual([100, 100, 180, 180]);
  });

  test("a login that finds all lanes busy and the queue full is rejected", () => {
    const result = simulate({
      service: service({ queueLimit: 1 }),
      arrivals: [0, 1, 2, 3, 101],
      warmUpMs: 0,
    });
    expect(result.shed).toBe(2);
    expect([...result.latenciesMs].map(Math.round)).toEqual([100, 199, 199]);
  });

  test("latencies are counted by arrival and completions by their own time", () => {
    const model = service({});
    const result = simulate({ service: model, arrivals: [0, 50, 150], warmUpMs: 40, endMs: 140 });
    expect([...result.latenciesMs].map(Math.round)).toEqual([150]);
    // The first login completes after 100 ms, in a measurement of 0.1 s.
    expect(result.achievedPerSecond).toBeCloseTo(10, 9);
  });

  test("figures without measured logins are NaN", () => {
    const { p99, meanMs, shed } = simulate({ service: service({}), arrivals: [], warmUpMs: 0 });
    expect([p99, meanMs, shed]).toEqual([Number.NaN, Number.NaN, 0]);
  });

  test("percentiles are nearest ranks", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0, 1, 50, 99, 99.5, 100].map((percent) => percentile(hundred, percent))).toEqual([
      1, 1, 50, 99, 100, 100,
    ]);
  });
});

describe("predicted by theory", () => {
  test.each([0.3, 0.6, 0.8])("one lane with constant cost waits as M/D/1 at load %f", (load) => {
    const { meanMs } = simulate({
      service: service({}),
      arrivals: poisson(10 * load, 40_000),
      warmUpMs: 0,
    });
    // Pollaczek–Khinchine formula without variance of the cost.
    const expected = 100 + (100 * load) / (2 * (1 - load));
    expect(Math.abs(meanMs / expected - 1)).toBeLessThan(0.03);
  });

  test.each([0.4, 0.7, 0.85])("exact processor sharing has the mean of the formula at load %f", (load) => {
    // Slower with each login, as lanes are: 20/s for one, 100/s for many.
    const laneMs = Array.from({ length: 400 }, (_, index) => 40 + 10 * (index + 1));
    const model = service({ laneMs, sliceMs: 0 });
    const rate = 97.5 * load;
    const { meanMs } = simulate({ service: model, arrivals: poisson(rate, 3000), warmUpMs: 10_000 });
    expect(Math.abs(meanMs / stationary(model, rate).meanLatencyMs - 1)).toBeLessThan(0.03);
  });

  test("finishing small groups first lowers the mean, and does not change the rate", () => {
    // Four lanes as fast as sixteen, as on a Zen 4.
    const laneMs = Array.from({ length: 16 }, (_, index) => Math.max(45, 18.5 * (index + 1)));
    const run = (model: ServiceModel) =>
      simulate({ service: model, arrivals: poisson(43, 500), warmUpMs: 0 });
    const shared = run(service({ laneMs }));
    const ordered = run(service({ laneMs, groups: groupsOf(laneMs) }));
    expect(ordered.meanMs).toBeLessThan(0.8 * shared.meanMs);
    expect(ordered.p99).toBeLessThan(shared.p99);
    expect(ordered.achievedPerSecond).toBeCloseTo(shared.achievedPerSecond, 0);
  });

  test("slices delay a login by less than one slice", () => {
    const laneMs = Array.from({ length: 16 }, (_, index) => 40 + 20 * index);
    const mean = (sliceMs: number) =>
      simulate({ service: service({ laneMs, sliceMs }), arrivals: poisson(25, 2000), warmUpMs: 0 }).meanMs;
    const delay = mean(6) - mean(0);
    expect(delay).toBeGreaterThan(0);
    expect(delay).toBeLessThan(6);
  });

  test("overload is handled at capacity, the rest is rejected, and the queue determines the latency", () => {
    const model = service({ queueLimit: 50 });
    const { achievedPerSecond, shed, p50 } = simulate({
      service: model,
      arrivals: poisson(30, 500),
      warmUpMs: 20_000,
    });
    expect(Math.abs(achievedPerSecond - 10)).toBeLessThan(0.3);
    expect(Math.abs(shed / 480 - 20)).toBeLessThan(1);
    expect(Math.abs(p50 / 5050 - 1)).toBeLessThan(0.02);
  });
});

test("equal arrivals give equal results", () => {
  const run = (seed: number) =>
    simulate({
      service: service({ workers: 2, laneMs: [45, 60] }),
      arrivals: poisson(50, 60, seed),
      warmUpMs: 1000,
    });
  expect(run(1)).toEqual(run(1));
  expect(run(1).p99).not.toBe(run(2).p99);
});
