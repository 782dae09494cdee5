/**
 * The jobs that wait for a worker, in order. Suspects, the jobs whose worker crashed, wait apart: each is for a worker without
 * jobs, so that it harms no other job if it crashes that worker, too.
 */
import type { Job } from "./job.ts";
import { Queue } from "./queue.ts";

export interface TakeOptions {
  /** Whether the worker has no jobs; it then takes suspects first. */
  readonly isIdle: boolean;
  readonly newestFirst: boolean;
}

export class JobQueue {
  readonly #jobs = new Queue<Job>();
  readonly #suspects = new Queue<Job>();

  get size(): number {
    return this.#jobs.size + this.#suspects.size;
  }

  push(job: Job): void {
    this.#jobs.push(job);
  }

  /** Returns a job of an exited worker to the front. */
  unshift(job: Job): void {
    if (job.crashes === 0) this.#jobs.unshift(job);
    else this.#suspects.unshift(job);
  }

  /** Removes and returns the next job for a worker with room. */
  take({ isIdle, newestFirst }: TakeOptions): Job | undefined {
    const suspect = isIdle ? this.#suspects.shift() : undefined;
    return suspect ?? (newestFirst ? this.#jobs.pop() : this.#jobs.shift());
  }

  delete(job: Job): void {
    this.#jobs.delete(job);
    this.#suspects.delete(job);
  }
}
