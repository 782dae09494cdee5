/** The measurements behind `stats()`: counters, Prometheus-style histograms and a rate over the last seconds. */

export interface JobStats {
  /** The time from the call until the derivation enters a lane, in seconds. */
  readonly waiting: HistogramSnapshot;
  /** The time in a lane, in seconds. */
  readonly running: HistogramSnapshot;
  /** The number of finished derivations, and the sum of their iterations. */
  readonly completed: number;
  readonly iterations: number;
  readonly aborted: number;
  /** The number of derivations rejected with QueueFull. */
  readonly rejected: number;
  readonly crashedWorkers: number;
  /** Finished derivations per second, over the last ten seconds. */
  readonly derivationsPerSecond: number;
}

export interface PoolStats extends JobStats {
  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  readonly kernel: string | null;
  readonly workers: number;
  /** The number of lanes of all workers together. */
  readonly lanes: number;
  readonly lanesBusy: number;
  /** The number of derivations that wait for a lane. */
  readonly queueLength: number;
  readonly queueLimit: number;
  /** Whether the newest derivation is served first, because none has started promptly for `queueSeconds`. */
  readonly overloaded: boolean;
  /** Derivations of 600,000 iterations per second, as recently achieved with all lanes busy; 0 until a worker has measured. */
  readonly capacityPerSecond: number;
}

/** Upper bounds in seconds, from one slice of a few milliseconds to a queue far above its limit. */
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export interface HistogramSnapshot {
  /** Upper bounds in seconds, ascending, inclusive and cumulative as in Prometheus; `count` is the `+Inf` bucket. */
  readonly bounds: readonly number[];
  /** `counts[i]` is the number of observations of at most `bounds[i]`. */
  readonly counts: readonly number[];
  /** The sum of all observations, in seconds. */
  readonly sum: number;
  readonly count: number;
}

export class Histogram {
  readonly #counts = BOUNDS_SECONDS.map(() => 0);
  #sum = 0;
  #count = 0;

  observe(seconds: number): void {
    for (const [index, bound] of BOUNDS_SECONDS.entries()) {
      if (seconds <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    }
    this.#sum += seconds;
    this.#count += 1;
  }

  snapshot(): HistogramSnapshot {
    return { bounds: BOUNDS_SECONDS, counts: [...this.#counts], sum: this.#sum, count: this.#count };
  }
}

/** Events per second over the last ten whole seconds, or since the start if that is more recent. */
export class Rate {
  static readonly WINDOW_SECONDS = 10;
  /** A ring buffer: `#counts[second % length]` counts one second; one more than the window, for the current second. */
  readonly #counts = new Array<number>(Rate.WINDOW_SECONDS + 1).fill(0);
  readonly #nowMs: () => number;
  readonly #startedMs: number;
  #second: number;

  /** @param nowMs a monotonic clock in milliseconds. */
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

  /** Resets the seconds that have passed since the last call and returns the current one. */
  #advance(): number {
    const second = Math.floor(this.#nowMs() / 1000);
    const passed = Math.min(second - this.#second, this.#counts.length);
    for (let back = 0; back < passed; back++) this.#counts[(second - back) % this.#counts.length] = 0;
    this.#second = second;
    return second;
  }
}

interface CompletedJob {
  readonly waitingSeconds: number;
  readonly runningSeconds: number;
  readonly iterations: number;
}

export class JobMetrics {
  readonly #waiting = new Histogram();
  readonly #running = new Histogram();
  readonly #rate: Rate;
  readonly #counts = { completed: 0, iterations: 0, aborted: 0, rejected: 0, crashedWorkers: 0 };

  /** @param nowMs a monotonic clock in milliseconds. */
  constructor(nowMs: () => number) {
    this.#rate = new Rate(nowMs);
  }

  count(event: "aborted" | "rejected" | "crashedWorkers"): void {
    this.#counts[event] += 1;
  }

  onCompleted({ waitingSeconds, runningSeconds, iterations }: CompletedJob): void {
    this.#waiting.observe(waitingSeconds);
    this.#running.observe(runningSeconds);
    this.#counts.completed += 1;
    this.#counts.iterations += iterations;
    this.#rate.add(1);
  }

  snapshot(): JobStats {
    return {
      waiting: this.#waiting.snapshot(),
      running: this.#running.snapshot(),
      ...this.#counts,
      derivationsPerSecond: this.#rate.perSecond(),
    };
  }
}
