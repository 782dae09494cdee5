/** One worker and its assigned jobs. The number of jobs determines how many lanes are busy. */
import type { Throughput } from "../kernel/kernel.ts";
import { USUAL_LANES } from "../kernel/variant-planner.ts";
import type { Job } from "./job.ts";
import { WorkerSupervisor, type WorkerSupervisorOptions } from "./worker-supervisor.ts";

/** Enough to refill, without a round trip, the lanes that become free together. More jobs would wait behind a slow worker. */
const MAX_PREFETCHED = 4;

/** Keeps jobs in the order in which the worker starts them: first the jobs in lanes, then a few prefetched jobs. */
export class WorkerSlot extends WorkerSupervisor {
  readonly #maxLanes: number;
  readonly #jobs = new Set<Job>();
  /** The latest measurement of the worker; null until the first one. */
  throughput: Throughput | null = null;

  /** @param index the position among the workers of the pool. */
  constructor(
    readonly index: number,
    options: WorkerSupervisorOptions & { readonly lanes: number },
  ) {
    super(options);
    this.#maxLanes = options.lanes;
  }

  /** The maximum until the worker has measured. */
  get lanes(): number {
    return this.throughput?.lanes ?? this.#maxLanes;
  }

  get lanesBusy(): number {
    return Math.min(this.#jobs.size, this.lanes);
  }

  get hasFreeLane(): boolean {
    return this.#jobs.size < this.lanes;
  }

  get hasRoom(): boolean {
    return this.#jobs.size < this.lanes + Math.min(this.lanes, MAX_PREFETCHED);
  }

  /**
   * The next job goes to the worker with the lowest rank. Workers share the jobs evenly up to the usual number of lanes. Further
   * lanes are cheap only if most of them are busy, so the worker with the most jobs gets further jobs until its lanes are full.
   * The rank of a worker without a free lane is the highest: the maximum number of lanes plus the number of prefetched jobs.
   */
  get rank(): number {
    const jobs = this.#jobs.size;
    if (jobs >= this.lanes) return this.#maxLanes + jobs - this.lanes;
    return jobs < USUAL_LANES ? jobs : USUAL_LANES + this.lanes - 1 - jobs;
  }

  /** No rank is higher: a worker can have `maxLanes` more jobs than it gets lanes when it measures. */
  get maxRank(): number {
    return 2 * this.#maxLanes + MAX_PREFETCHED;
  }

  /** The jobs that wait because all lanes hold other jobs. */
  get prefetched(): readonly Job[] {
    return [...this.#jobs].slice(this.lanes);
  }

  /** Requires `hasRoom`. */
  assign(job: Job): void {
    job.ticket += 1;
    job.memory.offer(job.ticket);
    this.#post(job);
  }

  /** Transfers the oldest prefetched job to a slot with a free lane; returns false if no job can be transferred. */
  transferTo(other: WorkerSlot): boolean {
    for (const job of this.prefetched) {
      if (!job.memory.reoffer(job.ticket, job.ticket + 1)) continue;
      job.ticket += 1;
      this.#jobs.delete(job);
      other.#post(job);
      return true;
    }
    return false;
  }

  /** Removes a job of this worker. If the job was in a lane, the next job takes its place. */
  remove(job: Job): void {
    job.workerIndex = null;
    this.#jobs.delete(job);
  }

  /** Called after the worker exited. Resets the throughput; removes all jobs and returns them in order. */
  reset(): Job[] {
    const jobs = [...this.#jobs];
    for (const job of jobs) this.remove(job);
    this.throughput = null;
    return jobs;
  }

  #post(job: Job): void {
    this.#jobs.add(job);
    job.workerIndex = this.index;
    const { id, ticket, memory } = job;
    this.post({ kind: "job", id, ticket, shape: memory.shape });
  }
}
