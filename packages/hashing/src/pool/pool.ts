/** Distributes derivations over worker threads: one bounded queue in front, and each job settles exactly once. */
import { HasherClosed, QueueFull, toAbortError, WorkerCrashed } from "../errors.ts";
import type { FromWorker, WorkerSetup } from "../protocol.ts";
import { Job, type JobInput } from "./job.ts";
import { Histogram, type HistogramSnapshot, Rate } from "./metrics.ts";
import { Queue } from "./queue.ts";
import { WorkerSlot } from "./worker-slot.ts";

const MIN_QUEUE_LIMIT = 64;
/** The waiting time at the end of a full queue, if the caller sets no limit. */
const DEFAULT_QUEUE_SECONDS = 5;
/** A job is attempted twice: if both workers crash, the job is the likely cause. */
const MAX_ATTEMPTS = 2;

export interface PoolOptions {
  readonly workers: number;
  /** The maximum number of waiting derivations; undefined: five seconds of the measured capacity, at least 64. */
  readonly queueLimit: number | undefined;
  /** The number of lanes of one worker. */
  readonly lanes: number;
  readonly setup: WorkerSetup;
  /** The module that each worker runs. */
  readonly workerUrl: URL;
}

export interface PoolStats {
  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  readonly kernel: string | null;
  readonly workers: number;
  /** The number of lanes of all workers together. */
  readonly lanes: number;
  readonly lanesBusy: number;
  /** The number of derivations that wait for a lane. */
  readonly queueLength: number;
  readonly queueLimit: number;
  /** The time from the call until the derivation enters a lane, in seconds. */
  readonly waiting: HistogramSnapshot;
  /** The time in a lane, in seconds. */
  readonly running: HistogramSnapshot;
  /** The number of finished derivations, and the sum of their iterations. */
  readonly completed: number;
  readonly iterations: number;
  readonly aborted: number;
  /** The number of derivations rejected with QueueFull. */
  readonly refused: number;
  readonly crashedWorkers: number;
  /** Finished derivations per second, over the last ten seconds. */
  readonly derivationsPerSecond: number;
  /** Derivations of 600,000 iterations per second with all lanes busy; 0 until a worker has measured. */
  readonly capacityPerSecond: number;
}

/**
 *     submit ─> queue ─> slot ─> worker [lane][lane]... + prefetched
 *
 * A job is in `#jobs` until it has settled and no worker holds it. Jobs in the queue and prefetched jobs are waiting; the
 * queue limit bounds their sum.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #queue = new Queue<Job>();
  readonly #slots: WorkerSlot[];
  readonly #jobs = new Map<number, Job>();
  readonly #waiting = new Histogram();
  readonly #running = new Histogram();
  readonly #rate = new Rate(() => performance.now());
  readonly #ready = Promise.withResolvers<void>();
  readonly #counts = { completed: 0, iterations: 0, aborted: 0, refused: 0, crashedWorkers: 0 };
  /** Null until every worker has measured its capacity; the limit then stays the same. */
  #queueLimit: number | null;
  #lastId = 0;
  #unsettled = 0;
  #lastExitCause: unknown;
  #closing: PromiseWithResolvers<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queueLimit = options.queueLimit ?? null;
    this.#slots = Array.from({ length: options.workers }, () => this.#createSlot());
  }

  /** Rejects with HasherClosed, QueueFull, WorkerCrashed or an AbortError. */
  submit(input: JobInput): Promise<Uint8Array> {
    if (input.signal?.aborted) return Promise.reject(toAbortError(input.signal));
    if (this.#closing) return Promise.reject(new HasherClosed());
    if (this.#isBroken()) return Promise.reject(new WorkerCrashed(this.#lastExitCause));
    if (this.#isFull()) {
      this.#counts.refused += 1;
      return Promise.reject(new QueueFull(this.#retryAfterSeconds()));
    }
    const job = new Job(++this.#lastId, input, (aborted) => this.#onAbort(aborted));
    this.#jobs.set(job.id, job);
    this.#queue.push(job);
    this.#unsettled += 1;
    this.#updateReferences();
    this.#dispatch();
    return job.promise;
  }

  /** Resolves once every worker has measured its throughput or is broken, or the pool is closed. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  stats(): PoolStats {
    return {
      kernel: this.#slots.find((slot) => slot.throughput !== null)?.throughput?.kernel ?? null,
      workers: this.#slots.length,
      lanes: this.#slots.length * this.#options.lanes,
      lanesBusy: this.#sum((slot) => slot.lanesBusy),
      queueLength: this.#waitingCount(),
      queueLimit: this.#queueLimit ?? MIN_QUEUE_LIMIT,
      waiting: this.#waiting.snapshot(),
      running: this.#running.snapshot(),
      ...this.#counts,
      derivationsPerSecond: this.#rate.perSecond(),
      capacityPerSecond: this.#capacity(),
    };
  }

  /** Finishes all submitted jobs, then ends the workers. */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = Promise.withResolvers<void>();
      this.#ready.resolve();
      this.#closeIfIdle();
    }
    return this.#closing.promise;
  }

  #createSlot(): WorkerSlot {
    const slot: WorkerSlot = new WorkerSlot({
      ...this.#options,
      onMessage: (message) => this.#onMessage(slot, message),
      onExit: (cause) => this.#onWorkerExit(slot, cause),
      onRestart: () => this.#dispatch(),
    });
    return slot;
  }

  /** The only definition of "full": no lane is free, and the number of waiting jobs has reached the limit. */
  #isFull(): boolean {
    const limit = this.#queueLimit ?? MIN_QUEUE_LIMIT;
    return this.#slots.every((slot) => slot.lanesFree === 0) && this.#waitingCount() >= limit;
  }

  /** No worker is running, and each has crashed several times in a row. */
  #isBroken(): boolean {
    return this.#slots.every((slot) => slot.isBroken && !slot.isRunning);
  }

  #waitingCount(): number {
    return this.#queue.size + this.#sum((slot) => slot.prefetched);
  }

  #capacity(): number {
    return this.#sum((slot) => slot.throughput?.capacityPerSecond ?? 0);
  }

  #retryAfterSeconds(): number {
    const capacity = this.#capacity();
    return capacity > 0 ? Math.max(1, Math.ceil(this.#waitingCount() / capacity)) : 1;
  }

  /**
   * Assigns queued jobs in order, each to the slot with the fewest jobs, then balances prefetched jobs. Busy lanes can
   * still differ by more than one: moving a job between lanes would save, once, at most 40 % of one derivation's time.
   */
  #dispatch(): void {
    for (;;) {
      const [slot] = this.#slots.filter((slot) => slot.hasRoom).sort((a, b) => a.jobCount - b.jobCount);
      if (!slot) return;
      const job = this.#queue.shift();
      if (job) slot.assign(job);
      else if (slot.lanesFree === 0 || !this.#slots.some((other) => other.transferTo(slot))) return;
    }
  }

  #onMessage(slot: WorkerSlot, message: FromWorker): void {
    slot.throughput = message.throughput;
    if (message.kind === "ready") {
      this.#checkReady();
      return;
    }
    for (const { id, finished, runningSeconds } of message.jobs) {
      const job = this.#jobs.get(id);
      // A job that this slot no longer holds belongs to another worker.
      if (!job || !slot.remove(job)) continue;
      this.#jobs.delete(id);
      if (finished && job.resolve()) this.#onCompleted(job, runningSeconds);
    }
    this.#dispatch();
  }

  #onCompleted(job: Job, runningSeconds: number): void {
    const totalSeconds = (performance.now() - job.submittedMs) / 1000;
    this.#waiting.observe(Math.max(0, totalSeconds - runningSeconds));
    this.#running.observe(runningSeconds);
    this.#counts.completed += 1;
    this.#counts.iterations += job.memory.shape.iterations;
    this.#rate.add(1);
    this.#onSettled();
  }

  #checkReady(): void {
    if (this.#slots.every((slot) => slot.throughput !== null)) {
      this.#queueLimit ??= Math.max(MIN_QUEUE_LIMIT, Math.ceil(DEFAULT_QUEUE_SECONDS * this.#capacity()));
    }
    if (this.#slots.every((slot) => slot.throughput !== null || slot.isBroken)) this.#ready.resolve();
  }

  #onAbort(job: Job): void {
    this.#counts.aborted += 1;
    // A job in a lane stays assigned until its worker drops it, because the lane is busy until then.
    if (!job.memory.withdraw()) {
      this.#queue.delete(job);
      for (const slot of this.#slots) slot.remove(job);
      this.#jobs.delete(job.id);
    }
    this.#onSettled();
    this.#dispatch();
  }

  /** Returns the worker's jobs to the front of the queue, in order, except those that have used all their attempts. */
  #onWorkerExit(slot: WorkerSlot, cause: unknown): void {
    this.#counts.crashedWorkers += 1;
    for (const job of slot.removeAll().reverse()) {
      if (job.memory.withdraw()) job.crashes += 1;
      if (job.settled) this.#jobs.delete(job.id);
      else if (job.crashes < MAX_ATTEMPTS) this.#queue.unshift(job);
      else this.#fail(job, cause);
    }
    this.#lastExitCause = cause;
    this.#checkReady();
    if (this.#isBroken()) {
      for (let job = this.#queue.shift(); job; job = this.#queue.shift()) this.#fail(job, cause);
    }
    this.#dispatch();
  }

  #fail(job: Job, cause: unknown): void {
    this.#jobs.delete(job.id);
    if (job.reject(new WorkerCrashed(cause))) this.#onSettled();
  }

  #onSettled(): void {
    this.#unsettled -= 1;
    this.#updateReferences();
    this.#closeIfIdle();
  }

  /** The workers keep the process alive only while jobs are unsettled, so that an unclosed hasher does not block its exit. */
  #updateReferences(): void {
    if (this.#unsettled > 1) return;
    for (const slot of this.#slots) slot.setReferenced(this.#unsettled > 0);
  }

  #closeIfIdle(): void {
    const closing = this.#closing;
    if (!closing || this.#unsettled > 0) return;
    void Promise.all(this.#slots.map((slot) => slot.close())).then(() => closing.resolve());
  }

  #sum(value: (slot: WorkerSlot) => number): number {
    return this.#slots.reduce((total, slot) => total + value(slot), 0);
  }
}
