/** The jobs that wait for a worker, in order. */
import type { Job } from "./job.ts";

/**
 * A queue with two ends from which any value can be removed; every operation takes amortized constant time. A value is in
 * the queue at most once.
 */
export class Queue<T> {
  /** Keys are positions from `#first` up to, but excluding, `#end`; a removed value leaves a gap, which is skipped. */
  readonly #values = new Map<number, T>();
  /** The inverse of `#values`. */
  readonly #positions = new Map<T, number>();
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#values.size;
  }

  push(value: T): void {
    this.#insert(this.#end++, value);
  }

  /** Adds a value at the front: for one that was shifted before and has to be processed again. */
  unshift(value: T): void {
    this.#insert(--this.#first, value);
  }

  /** Removes and returns the first value. */
  shift(): T | undefined {
    return this.#remove(() => this.#first++);
  }

  /** Removes and returns the last value. */
  pop(): T | undefined {
    return this.#remove(() => --this.#end);
  }

  /** Returns false if the value is not in the queue. */
  delete(value: T): boolean {
    const position = this.#positions.get(value);
    if (position === undefined) return false;
    this.#values.delete(position);
    return this.#positions.delete(value);
  }

  #insert(position: number, value: T): void {
    this.#values.set(position, value);
    this.#positions.set(value, position);
  }

  #remove(nextPosition: () => number): T | undefined {
    while (this.#first < this.#end) {
      const value = this.#values.get(nextPosition());
      if (value !== undefined && this.delete(value)) return value;
    }
    return undefined;
  }
}

interface TakeOptions {
  /** Whether the worker has no jobs; such a worker takes suspects first. */
  readonly isIdle: boolean;
  readonly newestFirst: boolean;
}

/**
 * Suspects, the jobs whose worker crashed, wait apart: each is for a worker without jobs, so that it harms no other job if it
 * crashes that worker, too.
 */
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
    (job.crashes === 0 ? this.#jobs : this.#suspects).unshift(job);
  }

  /** Removes and returns the next job for a worker with room. */
  take({ isIdle, newestFirst }: TakeOptions): Job | undefined {
    const suspect = isIdle ? this.#suspects.shift() : undefined;
    if (suspect) return suspect;
    return newestFirst ? this.#jobs.pop() : this.#jobs.shift();
  }

  delete(job: Job): void {
    this.#jobs.delete(job);
    this.#suspects.delete(job);
  }
}
