/** One worker with the jobs that are assigned to it; their number determines how many of its lanes are busy. */
import type { Throughput } from "../kernel/kernel.ts";
import type { Job } from "./job.ts";
import { WorkerSupervisor, type WorkerSupervisorOptions } from "./worker-supervisor.ts";

/** Enough to fill the lanes that become free together without a round trip; more would wait behind a slow worker. */
const MAX_PREFETCHED = 4;

/** Holds the jobs in lanes and a few prefetched ones. `#jobs` is in the order in which the worker starts them. */
export class WorkerSlot extends WorkerSupervisor {
  readonly #lanes: number;
  readonly #maxJobs: number;
  readonly #jobs = new Set<Job>();
  /** The latest measurement of the worker; null until the first one. */
  throughput: Throughput | null = null;

  constructor(options: WorkerSupervisorOptions & { readonly lanes: number }) {
    super(options);
    this.#lanes = options.lanes;
    this.#maxJobs = options.lanes + Math.min(options.lanes, MAX_PREFETCHED);
  }

  get jobCount(): number {
    return this.#jobs.size;
  }

  get lanesBusy(): number {
    return Math.min(this.#jobs.size, this.#lanes);
  }

  get lanesFree(): number {
    return this.hasRoom ? this.#lanes - this.lanesBusy : 0;
  }

  /** The sum of the jobs beyond the lanes; these are waiting. */
  get prefetchedIterations(): number {
    return [...this.#jobs].slice(this.#lanes).reduce((sum, { iterations }) => sum + iterations, 0);
  }

  /** Whether another job can be assigned. */
  get hasRoom(): boolean {
    return this.isRunning && this.#jobs.size < this.#maxJobs;
  }

  assign(job: Job): void {
    job.ticket += 1;
    job.memory.offer(job.ticket);
    this.#post(job);
  }

  /** Transfers the job that has been prefetched longest to a slot with a free lane; false if there is none. */
  transferTo(other: WorkerSlot): boolean {
    if (other === this || this.#jobs.size <= this.#lanes) return false;
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

  /** After the worker exited: removes and returns its jobs, in order. Its throughput no longer counts. */
  reset(): Job[] {
    const jobs = [...this.#jobs];
    this.#jobs.clear();
    this.throughput = null;
    return jobs;
  }

  #post(job: Job): void {
    this.#jobs.add(job);
    const { id, ticket, memory } = job;
    this.post({ kind: "job", id, ticket, shape: memory.shape });
  }
}
