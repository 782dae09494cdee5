/** Counting what the pool does: histograms in Prometheus' shape and a rate over the last seconds. */

/** Upper bounds in seconds: from a slice of a few milliseconds to a queue that is long past its limit. */
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export interface HistogramSnapshot {
  /** Upper bounds in seconds, ascending, both inclusive and cumulative as in Prometheus; `+Inf` is `count`. */
  readonly bounds: readonly number[];
  /** `counts[i]` observations were at most `bounds[i]`. */
  readonly counts: readonly number[];
  /** Seconds in all. */
  readonly sum: number;
  readonly count: number;
}

export class Histogram {
  /** Not cumulative: each observation is in the first bucket that holds it, or in none. */
  readonly #buckets = BOUNDS_SECONDS.map(() => 0);
  #sum = 0;
  #count = 0;

  observe(seconds: number): void {
    const bucket = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#sum += seconds;
    this.#count += 1;
  }

  snapshot(): HistogramSnapshot {
    let total = 0;
    const counts = this.#buckets.map((count) => (total += count));
    return { bounds: BOUNDS_SECONDS, counts, sum: this.#sum, count: this.#count };
  }
}

/** Events per second over the last ten whole seconds (fewer if it is younger than that). */
export class Rate {
  static readonly WINDOW_SECONDS = 10;
  /** Ring of seconds: `#counts[second % length]` belongs to `second` alone; one more than the window for the running one. */
  readonly #counts = new Array<number>(Rate.WINDOW_SECONDS + 1).fill(0);
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #second: number;

  /** @param nowMs a clock that never goes back, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#startedMs = nowMs();
    this.#second = Math.floor(this.#startedMs / 1000);
  }

  add(count: number): void {
    const index = this.#advance() % this.#counts.length;
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
  }

  perSecond(): number {
    const second = this.#advance();
    const seconds = this.#nowMs() / 1000 - Math.max(this.#startedMs / 1000, second - Rate.WINDOW_SECONDS);
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    return total === 0 ? 0 : total / Math.max(seconds, 0.001);
  }

  /** Empties the seconds that passed since the last call. */
  #advance(): number {
    const second = Math.floor(this.#nowMs() / 1000);
    const passed = Math.min(second - this.#second, this.#counts.length);
    for (let back = 0; back < passed; back++) this.#counts[(second - back) % this.#counts.length] = 0;
    this.#second = second;
    return second;
  }
}
