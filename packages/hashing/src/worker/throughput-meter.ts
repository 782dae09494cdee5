/**
 * Measures the throughput of one worker while all its lanes are busy. The elapsed time includes pauses for a CPU quota
 * and the time in which other processes have the core. Before the first measurement, the throughput is an estimate.
 */
import { STORED_ITERATIONS } from "../stored-hash.ts";

/** The time constant of the exponential average, in seconds with all lanes busy. */
const WINDOW_SECONDS = 5;
/** The estimate counts as a measurement of this duration. */
const ESTIMATE_SECONDS = 0.5;

export class ThroughputMeter {
  #iterations: number;
  #seconds = ESTIMATE_SECONDS;
  /** The start of the latest slice if all lanes were busy in this slice; null otherwise, and while the worker is idle. */
  #sinceMs: number | null = null;
  #iterationsSince = 0;

  /** @param estimatedPerSecond derivations of 600,000 iterations per second. */
  constructor(estimatedPerSecond: number) {
    this.#iterations = estimatedPerSecond * STORED_ITERATIONS * ESTIMATE_SECONDS;
  }

  /** Derivations of 600,000 iterations per second. */
  get perSecond(): number {
    return this.#iterations / this.#seconds / STORED_ITERATIONS;
  }

  /** Called after a slice. The time until the next slice counts as well. `iterations` is the sum over all lanes. */
  onSlice(slice: {
    readonly startedMs: number;
    readonly isFull: boolean;
    readonly iterations: number;
  }): void {
    this.stop(slice.startedMs);
    this.#sinceMs = slice.isFull ? slice.startedMs : null;
    this.#iterationsSince = slice.iterations;
  }

  /** Called when the worker becomes idle. */
  stop(nowMs: number): void {
    if (this.#sinceMs === null) return;
    const seconds = (nowMs - this.#sinceMs) / 1000;
    const keep = Math.exp(-seconds / WINDOW_SECONDS);
    this.#iterations = keep * this.#iterations + this.#iterationsSince;
    this.#seconds = keep * this.#seconds + seconds;
    this.#sinceMs = null;
  }
}
