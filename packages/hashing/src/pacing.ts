/** Keeps a worker's share of a core below a bound by pausing between slices, so that a CPU quota is not used up. */

/** Shorter pauses are saved up: timers count in whole milliseconds. */
const MIN_PAUSE_MS = 2;
/** Part of a quota that is left to the event loop. */
const RESERVE = 0.1;

/**
 * How much of its time each worker may derive, 0 to 1: 1 without a quota. An exhausted quota stops every thread of the
 * process until its period ends (Linux scheduler documentation, sched-bwc), the event loop too, whatever their priority.
 * @param quota cores that the process may use together; Infinity for no bound.
 */
export function workerShare({ quota, workers }: { quota: number; workers: number }): number {
  return Math.min(1, ((1 - RESERVE) * quota) / workers);
}

export class Pacing {
  readonly #share: number;
  #owedMs = 0;

  /** @param share above 0, to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** How long to pause after a slice that took so long; 0 if it may go on. */
  pauseMs(sliceMs: number): number {
    this.#owedMs += sliceMs * (1 / this.#share - 1);
    if (this.#owedMs < MIN_PAUSE_MS) return 0;
    const pauseMs = Math.floor(this.#owedMs);
    this.#owedMs -= pauseMs;
    return pauseMs;
  }
}
