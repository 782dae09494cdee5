/** One worker as the pool sees it: which jobs it holds, and therefore how many of its lanes are busy. */
import type { Job } from "./job.ts";
import type { Pace } from "./kernel/kernel.ts";
import { Thread, type ThreadOptions } from "./thread.ts";

export interface SeatOptions extends ThreadOptions {
  readonly lanes: number;
}

/**
 * Holds at most twice its lanes: those in lanes and as many that come next, so that lanes which empty together fill
 * again without asking. `#jobs` is in the order in which the worker takes them.
 */
export class Seat {
  readonly #lanes: number;
  readonly #thread: Thread;
  readonly #jobs = new Set<Job>();
  /** As its worker last measured it; null until then. */
  pace: Pace | null = null;

  constructor(options: SeatOptions) {
    this.#lanes = options.lanes;
    this.#thread = new Thread(options);
  }

  get alive(): boolean {
    return this.#thread.alive;
  }

  get broken(): boolean {
    return this.#thread.broken;
  }

  get held(): number {
    return this.#jobs.size;
  }

  get lanesBusy(): number {
    return Math.min(this.#jobs.size, this.#lanes);
  }

  get freeLanes(): number {
    return this.alive ? this.#lanes - this.lanesBusy : 0;
  }

  /** Held beyond the lanes: these wait. */
  get staged(): number {
    return this.#jobs.size - this.lanesBusy;
  }

  /** How many more it may hold. */
  get room(): number {
    return this.alive ? 2 * this.#lanes - this.#jobs.size : 0;
  }

  take(job: Job): void {
    job.ticket += 1;
    job.memory.offer(job.ticket);
    this.#post(job);
  }

  /** Passes the job that has waited here longest to a seat with a free lane; false if none waits. */
  giveTo(other: Seat): boolean {
    if (other === this || this.staged === 0) return false;
    for (const job of this.#jobs) {
      if (!job.memory.reoffer(job.ticket, job.ticket + 1)) continue;
      job.ticket += 1;
      this.#jobs.delete(job);
      other.#post(job);
      return true;
    }
    return false;
  }

  /** False if it does not hold this job. */
  release(job: Job): boolean {
    return this.#jobs.delete(job);
  }

  /** Takes every job away, in order. */
  empty(): Job[] {
    const jobs = [...this.#jobs];
    this.#jobs.clear();
    return jobs;
  }

  keepProcess(keeps: boolean): void {
    this.#thread.keepProcess(keeps);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #post(job: Job): void {
    this.#jobs.add(job);
    this.#thread.post({ kind: "job", id: job.id, ticket: job.ticket, memory: job.memory.shape });
  }
}
