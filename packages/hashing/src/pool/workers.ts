/** The workers of a pool together: which one takes the next job, and their sums. */
import type { Job } from "./job.ts";
import type { WorkerSlot } from "./worker-slot.ts";

export class Workers {
  readonly #slots: readonly WorkerSlot[];

  constructor(slots: readonly WorkerSlot[]) {
    this.#slots = slots;
  }

  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  get kernel(): string | null {
    return this.#slots.find((slot) => slot.throughput !== null)?.throughput?.kernel ?? null;
  }

  get capacityPerSecond(): number {
    return this.#sum((slot) => slot.throughput?.capacityPerSecond ?? 0);
  }

  get lanesBusy(): number {
    return this.#sum((slot) => slot.lanesBusy);
  }

  get prefetchedIterations(): number {
    return this.#sum((slot) => slot.prefetchedIterations);
  }

  get hasFreeLane(): boolean {
    return this.#slots.some((slot) => slot.lanesFree > 0);
  }

  /** Whether every worker has measured its throughput or cannot start. */
  get isReady(): boolean {
    return this.#slots.every((slot) => slot.throughput !== null || slot.isBroken);
  }

  /** Whether no worker is running, and each has crashed several times in a row. */
  get isBroken(): boolean {
    return this.#slots.every((slot) => slot.isBroken && !slot.isRunning);
  }

  /**
   * The worker with the fewest jobs, if it has room. Busy lanes can still differ by more than one: moving a job between
   * lanes would save, once, at most 40 % of one derivation's time.
   */
  leastLoaded(): WorkerSlot | undefined {
    const [first] = this.#slots.filter((slot) => slot.hasRoom).sort((a, b) => a.jobCount - b.jobCount);
    return first;
  }

  /** Transfers a prefetched job of another worker to a free lane; false if there is none. */
  transferTo(slot: WorkerSlot): boolean {
    return slot.lanesFree > 0 && this.#slots.some((other) => other.transferTo(slot));
  }

  remove(job: Job): void {
    for (const slot of this.#slots) slot.remove(job);
  }

  /** Sets whether the workers keep the process alive. */
  setReferenced(referenced: boolean): void {
    for (const slot of this.#slots) slot.setReferenced(referenced);
  }

  async close(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  #sum(value: (slot: WorkerSlot) => number): number {
    return this.#slots.reduce((total, slot) => total + value(slot), 0);
  }
}
