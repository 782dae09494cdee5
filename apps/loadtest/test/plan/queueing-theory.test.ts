/** The formulas against the closed forms of textbooks. */
import { describe, expect, test } from "bun:test";
import { serviceRate, stationary } from "../../src/plan/queueing-theory.ts";
import {
  capacityPerSecond,
  createServiceModel,
  groupsOf,
  type ServiceModel,
  withWorkers,
} from "../../src/plan/service-model.ts";

const oneLane = (ms: number, queueLimit: number): ServiceModel => ({
  workers: 1,
  laneMs: [ms],
  groups: [1],
  sliceMs: 0,
  queueLimit,
});

describe("a service with one lane of constant rate", () => {
  test("has the distribution and the mean of M/M/1", () => {
    // μ = 10/s, λ = 7/s.
    const { probabilities, meanLatencyMs, utilisation } = stationary(oneLane(100, 2000), 7);
    expect(utilisation).toBeCloseTo(0.7, 12);
    for (const inside of [0, 1, 2, 5, 20]) expect(probabilities[inside]).toBeCloseTo(0.3 * 0.7 ** inside, 12);
    expect(meanLatencyMs).toBeCloseTo(1000 / (10 - 7), 6);
  });

  test("rejects as M/M/1/K, below and above its capacity", () => {
    const rejected = (load: number, most: number) => ((1 - load) * load ** most) / (1 - load ** (most + 1));
    expect(stationary(oneLane(100, 4), 7).shedProbability).toBeCloseTo(rejected(0.7, 5), 12);
    expect(stationary(oneLane(100, 4), 30).shedProbability).toBeCloseTo(rejected(3, 5), 12);
  });

  test("handles its capacity under far higher load", () => {
    const { shedProbability } = stationary(oneLane(100, 50), 40);
    expect(40 * (1 - shedProbability)).toBeCloseTo(10, 6);
  });
});

test("workers with one lane wait as Erlang C predicts", () => {
  const [servers, load] = [4, 3];
  const factorial = (number: number): number => (number < 2 ? 1 : number * factorial(number - 1));
  const full = load ** servers / factorial(servers) / (1 - load / servers);
  const below = Array.from({ length: servers }, (_, inside) => load ** inside / factorial(inside));
  const waits = full / (full + below.reduce((a, b) => a + b));
  const service = { ...oneLane(100, 2000), workers: servers };
  expect(stationary(service, 30).meanLatencyMs).toBeCloseTo(100 + (waits * 100) / (servers - load), 6);
});

test("a thousand lanes do not exceed the range of numbers", () => {
  const service = {
    workers: 64,
    laneMs: Array.from({ length: 16 }, () => 300),
    groups: Array.from({ length: 16 }, (_, index) => index + 1),
    sliceMs: 6,
    queueLimit: 17_000,
  };
  const { probabilities, meanLatencyMs } = stationary(service, 2000);
  expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
  expect(meanLatencyMs).toBeCloseTo(300, 0);
});

describe("a service model from a measured curve", () => {
  const curve = [
    { concurrency: 1, perSecond: 20 },
    { concurrency: 2, perSecond: 40 },
    { concurrency: 4, perSecond: 50 },
    { concurrency: 8, perSecond: 80 },
    { concurrency: 12, perSecond: 82 },
    { concurrency: 16, perSecond: 86 },
  ];
  const service = createServiceModel({ curve, workers: 2, lanes: 4 });

  test("has the duration n / X(n), interpolated linearly between points", () => {
    expect(service.laneMs.slice(0, 3)).toEqual([50, 80, 90]);
  });

  test("has the mean rate of the points with waiting logins when all lanes are busy", () => {
    expect(service.laneMs[3]).toBeCloseTo(8000 / 84, 9);
    expect(capacityPerSecond(service)).toBeCloseTo(84, 9);
  });

  test("advances the fewest lanes that have about the same rate", () => {
    // Rates of 20, 43, 43.5, 54, 53 and 55 per second.
    const costs = [50, 23.25, 23, 18.5, 18.9, 18.2];
    expect(groupsOf(costs.map((ms, index) => ms * (index + 1)))).toEqual([1, 2, 2, 4, 4, 4]);
    expect(service.groups).toEqual([1, 2, 3, 4]);
  });

  test("advances all lanes where most would wait and these cost at most a quarter more", () => {
    // An Intel Xeon: two lanes with SHA-NI in 90 ms, any number with AVX-512 in 370 ms.
    const laneMs = [70, 90, 135, 180, 225, 270, 370, 370, 370, 370];
    expect(groupsOf(laneMs)).toEqual([1, 2, 2, 2, 2, 2, 7, 8, 9, 10]);
  });

  test("prefers the rates of an overloaded open loop to those of a closed loop", () => {
    const open = createServiceModel({ curve, overloaded: [80, 82], workers: 2, lanes: 4 });
    expect(capacityPerSecond(open)).toBeCloseTo(81, 9);
    expect(open.laneMs.slice(0, 3)).toEqual(service.laneMs.slice(0, 3));
  });

  test("reproduces the measured rates", () => {
    const rates = [1, 2, 4, 8, 9, 100].map((inside) => serviceRate(service, inside));
    for (const [index, rate] of [20, 40, 50, 84, 84, 84].entries()) expect(rates[index]).toBeCloseTo(rate, 9);
  });

  test("queues five seconds of its capacity and at least 64 logins", () => {
    expect(service.queueLimit).toBe(420);
    const large = withWorkers(service, 20);
    expect(capacityPerSecond(large)).toBeCloseTo(840, 9);
    expect(large.queueLimit).toBe(4200);
    expect(
      createServiceModel({ curve: [{ concurrency: 1, perSecond: 2 }], workers: 1, lanes: 1 }).queueLimit,
    ).toBe(64);
  });

  test("has a constant rate after the last point", () => {
    const short = createServiceModel({ curve: curve.slice(0, 3), workers: 2, lanes: 4 });
    expect(capacityPerSecond(short)).toBeCloseTo(50, 9);
  });
});
