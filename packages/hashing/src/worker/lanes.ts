/** The lanes of one worker: admits offered jobs, runs slices and returns results. A lane is wiped when its job ends. */
import type { Kernel } from "../kernel/kernel.ts";
import { JobMemory, type JobOffer, type JobResult } from "../protocol.ts";
import type { ThroughputMeter } from "./throughput-meter.ts";

interface LaneEntry extends Pick<JobOffer, "id" | "ticket"> {
  readonly memory: JobMemory;
  readonly startedMs: number;
}

/**
 * Jobs that start together finish together, and the event loop then answers all of them before it does anything else. More jobs
 * than this can still start together: jobs that were admitted before several slices, while a narrow variant advanced older jobs.
 * Lower values would cost more turns of the event loop.
 */
const MAX_ADMITTED_PER_SLICE = 4;

export class Lanes {
  readonly #kernel: Kernel;
  readonly #meter: ThroughputMeter;
  /** Indexed by lane; null for a free lane. */
  readonly #entries: (LaneEntry | null)[] = [];
  readonly #offers: JobOffer[] = [];

  constructor(kernel: Kernel, meter: ThroughputMeter) {
    this.#kernel = kernel;
    this.#meter = meter;
  }

  get isIdle(): boolean {
    return this.#offers.length === 0 && this.#entries.every((entry) => entry === null);
  }

  /** Adds a job that starts as soon as a lane is free. */
  push(offer: JobOffer): void {
    this.#offers.push(offer);
  }

  /** Drops withdrawn jobs, admits new jobs, runs one slice. Returns the jobs of cleared lanes, and the processor time. */
  runSlice(): { readonly jobs: readonly JobResult[]; readonly seconds: number } {
    const jobs = this.#retire();
    this.#admit();
    const isFull = !this.#entries.includes(null);
    const startedMs = performance.now();
    const { iterations, seconds } = this.#kernel.run();
    this.#meter.onSlice({ startedMs, isFull, iterations });
    jobs.push(...this.#retire());
    if (this.isIdle) this.#meter.stop(performance.now());
    return { jobs, seconds };
  }

  /** Discards all jobs and wipes their lanes. */
  clear(): void {
    this.#offers.length = 0;
    for (const [lane, entry] of this.#entries.entries()) if (entry) this.#clearLane(lane);
  }

  #admit(): void {
    while (this.#entries.length < this.#kernel.lanes) this.#entries.push(null);
    for (let admitted = 0; admitted < MAX_ADMITTED_PER_SLICE; admitted++) {
      const lane = this.#entries.indexOf(null);
      const entry = lane === -1 ? null : this.#claimNext();
      if (!entry) return;
      const { password, salt, shape } = entry.memory;
      this.#kernel.load(lane, { password, salt, iterations: shape.iterations });
      this.#entries[lane] = entry;
    }
  }

  /** Claims the first offer that is still valid. */
  #claimNext(): LaneEntry | null {
    for (let offer = this.#offers.shift(); offer; offer = this.#offers.shift()) {
      const { id, ticket, shape } = offer;
      const memory = new JobMemory(shape);
      if (memory.claim(ticket)) return { id, ticket, memory, startedMs: performance.now() };
    }
    return null;
  }

  /** Clears the lanes of finished and withdrawn jobs. */
  #retire(): JobResult[] {
    const results: JobResult[] = [];
    for (const [lane, entry] of this.#entries.entries()) {
      if (!entry) continue;
      if (entry.memory.isClaimed(entry.ticket) && !this.#kernel.isFinished(lane)) continue;
      const finished = this.#writeDigest(lane, entry);
      this.#clearLane(lane);
      const { id, ticket, startedMs } = entry;
      results.push({ id, ticket, finished, runningSeconds: (performance.now() - startedMs) / 1000 });
    }
    return results;
  }

  /** Returns false if the job was withdrawn before or while the digest was written. */
  #writeDigest(lane: number, { memory, ticket }: LaneEntry): boolean {
    if (!memory.isClaimed(ticket)) return false;
    this.#kernel.read(lane, memory.digest);
    if (memory.isClaimed(ticket)) return true;
    memory.wipe();
    return false;
  }

  #clearLane(lane: number): void {
    this.#kernel.clear(lane);
    this.#entries[lane] = null;
  }
}
