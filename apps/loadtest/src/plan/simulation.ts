/**
 * A discrete-event simulation of the service for given arrivals. It provides percentiles, for which theory has no formula
 * when all logins cost the same. Equal arrivals give equal results.
 */
import { arrivalTimes } from "../load/arrivals.ts";
import type { ServiceModel } from "./service-model.ts";
import { SimulatedWorker } from "./simulated-worker.ts";

interface SimulationOptions {
  readonly service: ServiceModel;
  /** Arrival times of the logins, in milliseconds; ascending. */
  readonly arrivals: readonly number[];
  /** Beginning of the measurement; earlier logins only load the service. */
  readonly warmUpMs: number;
  /** End of the measurement. @default the last arrival */
  readonly endMs?: number;
}

/** Milliseconds are NaN if no login was measured. */
export function simulate({ service, arrivals, warmUpMs, endMs }: SimulationOptions) {
  const completions = completionsOf(service, arrivals);
  const toMs = endMs ?? arrivals.at(-1) ?? 0;
  const isMeasured = (ms: number) => ms >= warmUpMs && ms <= toMs;
  const latencies: number[] = [];
  let shed = 0;
  for (const [login, arrivalMs] of arrivals.entries()) {
    if (!isMeasured(arrivalMs)) continue;
    const latencyMs = (completions[login] ?? Number.NaN) - arrivalMs;
    if (Number.isNaN(latencyMs)) shed += 1;
    else latencies.push(latencyMs);
  }
  const latenciesMs = Float64Array.from(latencies).sort();
  return {
    /** From arrival to response, of the measured logins that were not rejected; ascending. */
    latenciesMs,
    meanMs: latenciesMs.reduce((a, b) => a + b, 0) / latenciesMs.length,
    p50: percentile(latenciesMs, 50),
    p95: percentile(latenciesMs, 95),
    p99: percentile(latenciesMs, 99),
    /** Responses during the measurement, whenever their logins arrived. */
    achievedPerSecond: (1000 * completions.filter(isMeasured).length) / (toMs - warmUpMs),
    /** Measured logins that found the queue full. */
    shed,
  };
}

/** Completion time of each login, by the index of its arrival; NaN if it was rejected. */
function completionsOf(service: ServiceModel, arrivals: readonly number[]): Float64Array {
  const workers = Array.from({ length: service.workers }, () => new SimulatedWorker(service));
  const completions = new Float64Array(arrivals.length).fill(Number.NaN);
  /** Waiting logins, in order; those before `head` were dequeued. */
  const queue: number[] = [];
  let head = 0;

  /** Ends all slices until then, in order of time. */
  const run = (untilMs: number): void => {
    for (;;) {
      const worker = workers.reduce((first, next) => (next.sliceEndMs < first.sliceEndMs ? next : first));
      const nowMs = worker.sliceEndMs;
      if (nowMs > untilMs || nowMs === Number.POSITIVE_INFINITY) return;
      for (const login of worker.endSlice()) completions[login] = nowMs;
      while (worker.hasRoom) {
        const next = queue[head];
        if (next === undefined) break;
        head += 1;
        worker.refill(next);
      }
      worker.beginSlice(nowMs);
    }
  };

  for (const [login, arrivalMs] of arrivals.entries()) {
    run(arrivalMs);
    // The worker with the fewest logins gets it; if that is full, it waits or is rejected.
    const worker = workers.reduce((least, next) => (next.count < least.count ? next : least));
    if (worker.hasRoom) worker.start(login, arrivalMs);
    else if (queue.length - head < service.queueLimit) queue.push(login);
  }
  run(Number.POSITIVE_INFINITY);
  return completions;
}

/** Nearest rank; NaN without values. */
export function percentile(ascending: Float64Array, percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? Number.NaN;
}

interface RateOptions {
  readonly service: ServiceModel;
  readonly ratePerSecond: number;
  /** Measured, after the warm-up. */
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
}

/** Simulates one run with Poisson arrivals. */
export function simulateRun(options: RateOptions, seed: number) {
  const { service, ratePerSecond, durationSeconds, warmUpSeconds } = options;
  const totalSeconds = warmUpSeconds + durationSeconds;
  const arrivals = arrivalTimes({ ratePerSecond, arrivals: "poisson", durationSeconds: totalSeconds, seed });
  return simulate({ service, arrivals, warmUpMs: 1000 * warmUpSeconds, endMs: 1000 * totalSeconds });
}

/** The minimum, the median and the maximum of the repetitions. */
export interface Interval {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Simulates one rate with the seeds 1, 2, 3, …: the spread of the results is the uncertainty of a single run. */
export function repeatSimulation(options: RateOptions, repetitions: number) {
  const results = Array.from({ length: repetitions }, (_, index) => simulateRun(options, index + 1));
  const intervalOf = (figure: Exclude<keyof (typeof results)[number], "latenciesMs">): Interval => {
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
