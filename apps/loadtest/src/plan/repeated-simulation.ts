/** One rate simulated again and again: how far the figures lie apart is how much a single run can say. */
import { arrivalTimes } from "../load/arrivals.ts";
import type { ServiceModel } from "./service-model.ts";
import { type Simulated, simulate } from "./simulation.ts";

/** Of the repetitions: the lowest, the median and the highest. */
export interface Interval {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

export interface RepeatOptions {
  readonly service: ServiceModel;
  readonly ratePerSecond: number;
  /** What is counted, after the warm-up. */
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  readonly repetitions: number;
}

export interface Repeated {
  readonly perSecond: Interval;
  readonly meanMs: Interval;
  readonly p50: Interval;
  readonly p95: Interval;
  readonly p99: Interval;
  readonly shed: Interval;
}

/** Poisson arrivals with the seeds 1, 2, 3, … */
export function repeat(options: RepeatOptions): Repeated {
  const { service, ratePerSecond, durationSeconds, warmUpSeconds, repetitions } = options;
  const results = Array.from({ length: repetitions }, (_, index) => {
    const arrivals = arrivalTimes({
      ratePerSecond,
      arrivals: "poisson",
      durationSeconds: warmUpSeconds + durationSeconds,
      seed: index + 1,
    });
    const endMs = 1000 * (warmUpSeconds + durationSeconds);
    return simulate({ service, arrivals, warmUpMs: 1000 * warmUpSeconds, endMs });
  });
  const interval = (of: (result: Simulated) => number): Interval => {
    const ascending = results.map(of).sort((a, b) => a - b);
    const at = (index: number) => ascending[index] ?? Number.NaN;
    return { low: at(0), middle: at(ascending.length >> 1), high: at(ascending.length - 1) };
  };
  return {
    perSecond: interval((result) => result.achievedPerSecond),
    meanMs: interval((result) => result.meanMs),
    p50: interval((result) => result.p50),
    p95: interval((result) => result.p95),
    p99: interval((result) => result.p99),
    shed: interval((result) => result.shed),
  };
}
