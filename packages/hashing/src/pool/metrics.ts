/** The measurements behind `stats()`: counters and Prometheus-style histograms. */

export interface PoolStats {
  /** The time from the call until the derivation enters a lane, in seconds. */
  readonly waiting: HistogramSnapshot;
  /** The time in a lane, in seconds. */
  readonly running: HistogramSnapshot;
  /** The number of finished derivations; `iterations` is the sum of their iterations. */
  readonly completed: number;
  readonly iterations: number;
  readonly aborted: number;
  /** The number of derivations rejected with QueueFull. */
  readonly rejected: number;
  readonly crashedWorkers: number;
  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  readonly kernel: string | null;
  readonly workers: number;
  /** The number of lanes of all workers together. */
  readonly lanes: number;
  readonly lanesBusy: number;
  /** The work that waits for a lane, in derivations of 600,000 iterations. */
  readonly queueLength: number;
  /** The queue is full from this length on. */
  readonly queueLimit: number;
  /** Whether overload is sustained: no derivation has started promptly for `queueSeconds`, so the newest is served first. */
  readonly overloaded: boolean;
  /** Recent throughput with all lanes busy: derivations of 600,000 iterations per second; 0 until a worker has measured. */
  readonly capacityPerSecond: number;
}

/** Upper bounds in seconds, from one slice of a few milliseconds to a queue far above its limit. */
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export interface HistogramSnapshot {
  /** Upper bounds in seconds, ascending and inclusive. The `+Inf` bucket of Prometheus is `count`. */
  readonly bounds: readonly number[];
  /** `counts[i]` is the number of observations of at most `bounds[i]`: the counts are cumulative, as in Prometheus. */
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

export class JobMetrics {
  readonly #waiting = new Histogram();
  readonly #running = new Histogram();
  /** {@link onCompleted} increases `completed` and `iterations`. The pool increases the other counters. */
  readonly counts = { completed: 0, iterations: 0, aborted: 0, rejected: 0, crashedWorkers: 0 };

  onCompleted(job: Record<"waitingSeconds" | "runningSeconds" | "iterations", number>): void {
    this.#waiting.observe(job.waitingSeconds);
    this.#running.observe(job.runningSeconds);
    this.counts.completed += 1;
    this.counts.iterations += job.iterations;
  }

  snapshot() {
    return { waiting: this.#waiting.snapshot(), running: this.#running.snapshot(), ...this.counts };
  }
}
