/**
 * Distinguishes a burst from sustained overload. A burst is served in order. In sustained overload, the oldest job is
 * the least likely to be answered in time. The newest job is therefore served first, and no job waits long. CoDel
 * (Nichols and Jacobson 2012, "Controlling Queue Delay") and folly's adaptive LIFO (Maurer 2015, "Fail at Scale") do the same.
 */

/** A job that waits at most this long starts promptly. During sustained overload, no job waits longer. */
const PROMPT_MS = 500;
/**
 * During sustained overload, a job waits only as long as it can still finish about this long after it was submitted. Neighbours of
 * the machine can delay it by up to 300 ms more: clients often wait for one second.
 */
const FINISHED_MS = 700;
/** Shorter waits would leave lanes empty between two arrivals. */
const MIN_WAIT_MS = 100;

export class OverloadDetector {
  readonly #queueMs: number;
  /** The latest time at which a job started promptly or a lane was free. */
  #promptMs: number;
  /** Read-only outside this class. */
  isSustained = false;

  /** @param queueMs the maximum waiting time without sustained overload. */
  constructor({ queueMs, nowMs }: { readonly queueMs: number; readonly nowMs: number }) {
    this.#queueMs = queueMs;
    this.#promptMs = nowMs;
  }

  /** @param runningMs the time that a job runs while all lanes are busy. */
  maxWaitMs(runningMs: number): number {
    if (!this.isSustained) return this.#queueMs;
    return Math.min(PROMPT_MS, Math.max(MIN_WAIT_MS, FINISHED_MS - runningMs), this.#queueMs);
  }

  /** Overload is sustained when a job starts late and no job has started promptly for `queueMs`. */
  onStart({ startedMs, waitedMs }: { readonly startedMs: number; readonly waitedMs: number }): void {
    if (waitedMs <= PROMPT_MS) this.#promptMs = Math.max(this.#promptMs, startedMs);
    else if (startedMs - this.#promptMs >= this.#queueMs) this.isSustained = true;
  }

  /** A free lane ends sustained overload. An empty queue does not, because it is also empty if all its jobs have expired. */
  onFreeLane(nowMs: number): void {
    this.#promptMs = nowMs;
    this.isSustained = false;
  }
}
