/** Simulates one rate repeatedly: the spread of the results is the uncertainty of a single run. */
import { arrivalTimes } from "../load/arrivals.ts";
import type { ServiceModel } from "./service-model.ts";
import { type SimulationResult, simulate } from "./simulation.ts";

/** The minimum, the median and the maximum of the repetitions. */
export interface Interval {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

interface RateOptions {
  readonly service: ServiceModel;
  readonly ratePerSecond: number;
  /** Measured, after the warm-up. */
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
}

export type RepeatedResult = Readonly<
  Record<"perSecond" | "meanMs" | "p50" | "p95" | "p99" | "shed", Interval>
>;

/** Simulates one run with Poisson arrivals. */
export function simulateRun(options: RateOptions, seed: number): SimulationResult {
  const { service, ratePerSecond, durationSeconds, warmUpSeconds } = options;
  const totalSeconds = warmUpSeconds + durationSeconds;
  const arrivals = arrivalTimes({ ratePerSecond, arrivals: "poisson", durationSeconds: totalSeconds, seed });
  return simulate({ service, arrivals, warmUpMs: 1000 * warmUpSeconds, endMs: 1000 * totalSeconds });
}

/** Uses the seeds 1, 2, 3, … */
export function repeatSimulation(options: RateOptions, repetitions: number): RepeatedResult {
  const results = Array.from({ length: repetitions }, (_, index) => simulateRun(options, index + 1));
  const intervalOf = (figure: Exclude<keyof SimulationResult, "latenciesMs">): Interval => {
    const ascending = results.map((result) => result[figure]).sort((a, b) => a - b);
    const at = (index: number) => ascending[index] ?? Number.NaN;
    return { low: at(0), middle: at(ascending.length >> 1), high: at(ascending.length - 1) };
  };
  return {
    perSecond: intervalOf("achievedPerSecond"),
    meanMs: intervalOf("meanMs"),
    p50: intervalOf("p50"),
    p95: intervalOf("p95"),
    p99: intervalOf("p99"),
    shed: intervalOf("shed"),
  };
}
