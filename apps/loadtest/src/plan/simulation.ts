/**
 * A discrete-event simulation of the service under given arrivals: percentiles, which theory does not give for logins
 * that all cost the same. The same arrivals always give the same result.
 */
import type { ServiceModel } from "./service-model.ts";
import { Worker } from "./simulated-worker.ts";

export interface SimulationOptions {
  readonly service: ServiceModel;
  /** When logins arrive, in milliseconds; ascending. */
  readonly arrivals: readonly number[];
  /** What is counted begins; logins that arrive before it load the service. */
  readonly warmUpMs: number;
  /** What is counted ends. @default the last arrival */
  readonly endMs?: number;
}

/** Milliseconds are NaN if no login was counted. */
export interface Simulated {
  /** From arrival to answer, of the counted logins that were not shed; ascending. */
  readonly latenciesMs: Float64Array;
  readonly meanMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Answers within what is counted, whenever their logins arrived. */
  readonly achievedPerSecond: number;
  /** Counted logins that found the queue full. */
  readonly shed: number;
}

export function simulate({ service, arrivals, warmUpMs, endMs }: SimulationOptions): Simulated {
  const departures = new Station(service).serve(arrivals);
  const toMs = endMs ?? arrivals.at(-1) ?? 0;
  const isCounted = (ms: number) => ms >= warmUpMs && ms <= toMs;
  const latencies: number[] = [];
  let answered = 0;
  let shed = 0;
  for (const [login, arrivalMs] of arrivals.entries()) {
    const departureMs = departures[login] ?? Number.NaN;
    if (isCounted(departureMs)) answered += 1;
    if (!isCounted(arrivalMs)) continue;
    if (Number.isNaN(departureMs)) shed += 1;
    else latencies.push(departureMs - arrivalMs);
  }
  const latenciesMs = Float64Array.from(latencies).sort();
  return {
    latenciesMs,
    meanMs: latenciesMs.reduce((a, b) => a + b, 0) / latenciesMs.length,
    p50: percentile(latenciesMs, 50),
    p95: percentile(latenciesMs, 95),
    p99: percentile(latenciesMs, 99),
    achievedPerSecond: (1000 * answered) / (toMs - warmUpMs),
    shed,
  };
}

/** The workers and the line in front of them, as the hashing core has them. */
class Station {
  readonly #workers: readonly Worker[];
  readonly #queueLimit: number;
  /** Logins that wait for a lane, in order; those before `#first` have left. */
  readonly #line: number[] = [];
  #first = 0;
  #departures = new Float64Array(0);

  constructor(service: ServiceModel) {
    this.#workers = Array.from({ length: service.workers }, () => new Worker(service));
    this.#queueLimit = service.queueLimit;
  }

  /** When each login is answered, by the index of its arrival; NaN where it was shed. */
  serve(arrivals: readonly number[]): Float64Array {
    this.#departures = new Float64Array(arrivals.length).fill(Number.NaN);
    for (const [login, arrivalMs] of arrivals.entries()) {
      this.#run(arrivalMs);
      this.#admit(login, arrivalMs);
    }
    this.#run(Number.POSITIVE_INFINITY);
    return this.#departures;
  }

  /** To the worker that holds the fewest, else to the line, else nowhere. */
  #admit(login: number, nowMs: number): void {
    const emptiest = this.#least((worker) => worker.held);
    if (emptiest?.hasRoom) emptiest.take(login, nowMs);
    else if (this.#line.length - this.#first < this.#queueLimit) this.#line.push(login);
  }

  /** Ends every slice that ends by then, in the order of their ends. */
  #run(untilMs: number): void {
    for (;;) {
      const worker = this.#least(({ sliceEndMs }) => sliceEndMs);
      const nowMs = worker?.sliceEndMs ?? Number.POSITIVE_INFINITY;
      if (!worker || nowMs > untilMs || nowMs === Number.POSITIVE_INFINITY) return;
      for (const login of worker.endSlice()) this.#departures[login] = nowMs;
      while (worker.hasRoom) {
        const next = this.#line[this.#first];
        if (next === undefined) break;
        this.#first += 1;
        worker.refill(next);
      }
      worker.beginSlice(nowMs);
    }
  }

  #least(of: (worker: Worker) => number): Worker | undefined {
    let least: Worker | undefined;
    let value = Number.POSITIVE_INFINITY;
    for (const worker of this.#workers) {
      const own = of(worker);
      if (least && own >= value) continue;
      least = worker;
      value = own;
    }
    return least;
  }
}

/** The smallest value that so many percent do not exceed (nearest rank); NaN of nothing. */
export function percentile(ascending: Float64Array, percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? Number.NaN;
}
