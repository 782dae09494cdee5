/**
 * A discrete-event simulation of the service for given arrivals. It provides percentiles, for which theory has no formula
 * when all logins cost the same. Equal arrivals give equal results.
 */
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
export interface SimulationResult {
  /** From arrival to response, of the measured logins that were not rejected; ascending. */
  readonly latenciesMs: Float64Array;
  readonly meanMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Responses during the measurement, whenever their logins arrived. */
  readonly achievedPerSecond: number;
  /** Measured logins that found the queue full. */
  readonly shed: number;
}

export function simulate({ service, arrivals, warmUpMs, endMs }: SimulationOptions): SimulationResult {
  const completions = new Station(service).serve(arrivals);
  const toMs = endMs ?? arrivals.at(-1) ?? 0;
  const isMeasured = (ms: number) => ms >= warmUpMs && ms <= toMs;
  const latencies: number[] = [];
  let completed = 0;
  let shed = 0;
  for (const [login, arrivalMs] of arrivals.entries()) {
    const completionMs = completions[login] ?? Number.NaN;
    if (isMeasured(completionMs)) completed += 1;
    if (!isMeasured(arrivalMs)) continue;
    if (Number.isNaN(completionMs)) shed += 1;
    else latencies.push(completionMs - arrivalMs);
  }
  const latenciesMs = Float64Array.from(latencies).sort();
  return {
    latenciesMs,
    meanMs: latenciesMs.reduce((a, b) => a + b, 0) / latenciesMs.length,
    p50: percentile(latenciesMs, 50),
    p95: percentile(latenciesMs, 95),
    p99: percentile(latenciesMs, 99),
    achievedPerSecond: (1000 * completed) / (toMs - warmUpMs),
    shed,
  };
}

/** The workers and the queue of the hashing core. */
class Station {
  readonly #workers: readonly SimulatedWorker[];
  readonly #queueLimit: number;
  /** Waiting logins, in order; those before `#head` were dequeued. */
  readonly #queue: number[] = [];
  #head = 0;
  #completions = new Float64Array(0);

  constructor(service: ServiceModel) {
    this.#workers = Array.from({ length: service.workers }, () => new SimulatedWorker(service));
    this.#queueLimit = service.queueLimit;
  }

  /** Completion time of each login, by the index of its arrival; NaN if it was rejected. */
  serve(arrivals: readonly number[]): Float64Array {
    this.#completions = new Float64Array(arrivals.length).fill(Number.NaN);
    for (const [login, arrivalMs] of arrivals.entries()) {
      this.#run(arrivalMs);
      this.#admit(login, arrivalMs);
    }
    this.#run(Number.POSITIVE_INFINITY);
    return this.#completions;
  }

  /** Assigns the login to the worker with the fewest logins, or enqueues it, or rejects it. */
  #admit(login: number, nowMs: number): void {
    const worker = this.#workerWithLeast(({ count }) => count);
    if (worker?.hasRoom) worker.start(login, nowMs);
    else if (this.#queue.length - this.#head < this.#queueLimit) this.#queue.push(login);
  }

  /** Ends all slices until then, in order of time. */
  #run(untilMs: number): void {
    for (;;) {
      const worker = this.#workerWithLeast(({ sliceEndMs }) => sliceEndMs);
      const nowMs = worker?.sliceEndMs ?? Number.POSITIVE_INFINITY;
      if (!worker || nowMs > untilMs || nowMs === Number.POSITIVE_INFINITY) return;
      for (const login of worker.endSlice()) this.#completions[login] = nowMs;
      while (worker.hasRoom) {
        const next = this.#queue[this.#head];
        if (next === undefined) break;
        this.#head += 1;
        worker.refill(next);
      }
      worker.beginSlice(nowMs);
    }
  }

  #workerWithLeast(measure: (worker: SimulatedWorker) => number): SimulatedWorker | undefined {
    let least: SimulatedWorker | undefined;
    let leastValue = Number.POSITIVE_INFINITY;
    for (const worker of this.#workers) {
      const value = measure(worker);
      if (least && value >= leastValue) continue;
      least = worker;
      leastValue = value;
    }
    return least;
  }
}

/** Nearest rank; NaN without values. */
export function percentile(ascending: Float64Array, percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? Number.NaN;
}
