/**
 * Distinguishes a burst from sustained overload. A burst is served in order. In sustained overload, the job that has waited
 * longest is the least likely to be answered in time, so the newest job is served first and no job waits long, as in CoDel
 * (Nichols and Jacobson 2012, "Controlling Queue Delay") and the adaptive LIFO of Facebook's folly (Maurer 2015, "Fail at
 * Scale").
 */

/** The longest waiting time of a service that keeps up with its load, and of every job during sustained overload. */
const PROMPT_MS = 500;

export class OverloadDetector {
  readonly #queueMs: number;
  /** When a job last started promptly, or a lane was last free. */
  #promptMs: number;
  /** For others to read. */
  isSustained = false;

  /** @param queueMs the maximum waiting time without overload. */
  constructor({ queueMs, nowMs }: { readonly queueMs: number; readonly nowMs: number }) {
    this.#queueMs = queueMs;
    this.#promptMs = nowMs;
  }

  get maxWaitMs(): number {
    return this.isSustained ? Math.min(PROMPT_MS, this.#queueMs) : this.#queueMs;
  }

  /** Sustained from the first job that started late, if every other one did since `queueMs`. */
  onStart({ startedMs, waitedMs }: { readonly startedMs: number; readonly waitedMs: number }): void {
    if (waitedMs <= PROMPT_MS) this.#promptMs = Math.max(this.#promptMs, startedMs);
    else if (startedMs - this.#promptMs >= this.#queueMs) this.isSustained = true;
  }

  /** A free lane ends sustained overload: the queue has drained. An empty queue alone does not, because jobs expire. */
  onFreeLane(nowMs: number): void {
    this.#promptMs = nowMs;
    this.isSustained = false;
  }
}
