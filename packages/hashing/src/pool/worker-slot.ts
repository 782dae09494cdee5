/** One worker with the jobs that are assigned to it; their number determines how many of its lanes are busy. */
import type { Throughput } from "../kernel/kernel.ts";
import type { Job } from "./job.ts";
import { WorkerSupervisor, type WorkerSupervisorOptions } from "./worker-supervisor.ts";

export interface WorkerSlotOptions extends WorkerSupervisorOptions {
  readonly lanes: number;
}

/**
 * Holds at most twice as many jobs as the worker has lanes: those in lanes, and as many prefetched ones, so that lanes
 * that become free together are filled without a round trip. `#jobs` is in the order in which the worker starts them.
 */
export class WorkerSlot extends WorkerSupervisor {
  readonly #lanes: number;
  readonly #jobs = new Set<Job>();
  /** The latest measurement of the worker; null until the first one. */
  throughput: Throughput | null = null;

  constructor(options: WorkerSlotOptions) {
    super(options);
    this.#lanes = options.lanes;
  }

  get jobCount(): number {
    return this.#jobs.size;
  }

  get lanesBusy(): number {
    return Math.min(this.#jobs.size, this.#lanes);
  }

  get lanesFree(): number {
    return this.isRunning ? this.#lanes - this.lanesBusy : 0;
  }

  /** The number of jobs beyond the lanes; these are waiting. */
  get prefetched(): number {
    return this.#jobs.size - this.lanesBusy;
  }

  /** Whether another job can be assigned. */
  get hasRoom(): boolean {
    return this.isRunning && this.#jobs.size < 2 * this.#lanes;
  }

  assign(job: Job): void {
    job.ticket += 1;
    job.memory.offer(job.ticket);
    this.#post(job);
  }

  /** Transfers the job that has been prefetched longest to a slot with a free lane; false if there is none. */
  transferTo(other: WorkerSlot): boolean {
    if (other === this || this.prefetched === 0) return false;
    for (const job of this.#jobs) {
      if (!job.memory.reoffer(job.ticket, job.ticket + 1)) continue;
      job.ticket += 1;
      this.#jobs.delete(job);
      other.#post(job);
      return true;
    }
    return false;
  }

  /** Returns false if the job is not assigned to this worker. */
  remove(job: Job): boolean {
    return this.#jobs.delete(job);
  }

  /** Removes and returns all jobs, in order. */
  removeAll(): Job[] {
    const jobs = [...this.#jobs];
    this.#jobs.clear();
    return jobs;
  }

  #post(job: Job): void {
    this.#jobs.add(job);
    this.post({ kind: "job", id: job.id, ticket: job.ticket, shape: job.memory.shape });
  }
}
