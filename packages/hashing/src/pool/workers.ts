/**
 * Chooses the worker for the next job and keeps sums over all workers of a pool. All changes of a worker go through `update`,
 * which keeps the sums and `#byRank` up to date. Assigning a job therefore takes the same time with any number of workers.
 */
import type { Job } from "./job.ts";
import type { WorkerSlot } from "./worker-slot.ts";

export class Workers {
  readonly #slots: readonly WorkerSlot[];
  /** The running workers by their rank. */
  readonly #byRank: readonly Set<WorkerSlot>[];
  /** Sums over all workers. Read-only outside this class. */
  prefetchedIterations = 0;
  capacityPerSecond = 0;

  constructor(slots: readonly WorkerSlot[]) {
    this.#slots = slots;
    const maxRank = Math.max(...slots.map((slot) => slot.maxRank));
    this.#byRank = Array.from({ length: maxRank + 1 }, () => new Set());
    for (const slot of slots) this.#count(slot, 1);
  }

  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  get kernel(): string | null {
    return this.#slots.find((slot) => slot.throughput)?.throughput?.kernel ?? null;
  }

  get lanes(): number {
    return this.#slots.reduce((total, slot) => total + slot.lanes, 0);
  }

  get lanesBusy(): number {
    return this.#slots.reduce((total, slot) => total + slot.lanesBusy, 0);
  }

  get hasFreeLane(): boolean {
    return this.next()?.hasFreeLane ?? false;
  }

  /** Whether every worker has measured its throughput or is broken. */
  get isReady(): boolean {
    return this.#slots.every((slot) => slot.throughput !== null || slot.isBroken);
  }

  /** Whether every worker is broken and no worker is running. */
  get isBroken(): boolean {
    return this.#slots.every((slot) => slot.isBroken && !slot.isRunning);
  }

  /** The prefetched jobs of all workers. */
  *prefetched(): Generator<Job> {
    for (const slot of this.#slots) yield* slot.prefetched;
  }

  /**
   * Returns the worker with the lowest rank, if it has room. Workers can still differ by more than one busy lane, because
   * running jobs are never moved. Moving one would save at most 40 % of one derivation's time, and only once.
   */
  next(): WorkerSlot | undefined {
    const [slot] = this.#byRank.find((slots) => slots.size > 0) ?? [];
    return slot?.hasRoom ? slot : undefined;
  }

  /** Transfers a prefetched job of the most loaded worker to a free lane of `slot`; returns false if this is not possible. */
  transferTo(slot: WorkerSlot): boolean {
    const [other] = this.#byRank.findLast((slots) => slots.size > 0) ?? [];
    if (!slot.hasFreeLane || !other?.prefetched.length) return false;
    return this.update(slot, () => this.update(other, () => other.transferTo(slot)));
  }

  /** Removes the job from the worker to which it is assigned, if any. */
  remove(job: Job): void {
    const slot = job.workerIndex === null ? undefined : this.#slots[job.workerIndex];
    if (slot) this.update(slot, () => slot.remove(job));
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  /** Changes the worker and updates the sums and `#byRank`. */
  update<T>(slot: WorkerSlot, change: () => T): T {
    this.#count(slot, -1);
    const result = change();
    this.#count(slot, 1);
    return result;
  }

  /** Adds the worker to the sums and `#byRank` (1), or removes it (-1). */
  #count(slot: WorkerSlot, sign: 1 | -1): void {
    const slots = this.#byRank[slot.rank];
    if (sign === 1 && slot.isRunning) slots?.add(slot);
    else slots?.delete(slot);
    for (const job of slot.prefetched) this.prefetchedIterations += sign * job.iterations;
    this.capacityPerSecond += sign * (slot.throughput?.capacityPerSecond ?? 0);
  }
}
