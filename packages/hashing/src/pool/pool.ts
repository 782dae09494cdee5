/**
 * Distributes derivations over worker threads from one bounded queue. Each derivation is a job that settles exactly once. A
 * *lane* is a place in a worker for one job. A *kernel* advances several lanes together for one *slice*, a few milliseconds. A
 * *ticket* is the number under which a job is offered to a worker; only the latest offer counts. A *prefetched* job is offered
 * to a worker that has no free lane yet.
 */
import { HasherClosed, QueueFull, toAbortError, WorkerCrashed } from "../errors.ts";
import type { ThreadHash } from "../formats/format.ts";
import type { FromWorker, WorkerSetup } from "../protocol.ts";
import { STORED_ITERATIONS } from "../stored-hash.ts";
import { Job, type JobInput } from "./job.ts";
import { JobQueue } from "./job-queue.ts";
import { JobMetrics, type PoolStats } from "./metrics.ts";
import { OverloadDetector } from "./overload.ts";
import { ThreadQueue } from "./thread-queue.ts";
import { WorkerSlot } from "./worker-slot.ts";
import { Workers } from "./workers.ts";

/** In derivations of 600,000 iterations. */
const MIN_QUEUE_LIMIT = 64;
/** A job is attempted twice. If a worker crashes in both attempts, the job is the likely cause. */
const MAX_ATTEMPTS = 2;
/** The interval at which the waiting times are checked while jobs wait. */
const EXPIRY_INTERVAL_MS = 20;

/** `workers`, `queueLimit` and `queueSeconds` are those of `HasherOptions`. */
export interface PoolOptions {
  readonly workers: number;
  readonly queueLimit: number | undefined;
  readonly queueSeconds: number;
  /** The maximum number of lanes of one worker. Its measurements can justify fewer. */
  readonly lanes: number;
  readonly setup: WorkerSetup;
  /** The module that each worker runs. */
  readonly workerUrl: URL;
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly nowMs?: () => number;
}

/**
 *     submit ─> queue ─> slot ─> worker [lane][lane]... + prefetched
 *
 * A job is in `#jobs` until it has settled and no worker holds it. Jobs in the queue and prefetched jobs are waiting. The
 * queue limit bounds the iterations of all waiting jobs, not their number, because some jobs cost many times more than others.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #nowMs: () => number;
  /** The jobs that wait for a worker, in order of submission. */
  readonly #queue = new JobQueue<Job>();
  readonly #workers: Workers;
  /** The verifications that cannot run in lanes. They have their own limit, but the same maximum waiting time as the queue. */
  readonly #threads: ThreadQueue;
  readonly #jobs = new Map<number, Job>();
  readonly #overload: OverloadDetector;
  readonly #metrics = new JobMetrics();
  readonly #ready = Promise.withResolvers<void>();
  /** Resolves when the last job settles after `close`. */
  readonly #drained = Promise.withResolvers<void>();
  /** Keeps the process alive only while jobs are unsettled, because an unclosed hasher must not block the exit. */
  readonly #keepAlive = setInterval(() => {}, 2 ** 31 - 1).unref();
  #lastId = 0;
  #unsettled = 0;
  #lastExitCause: unknown;
  #expiryTimer: ReturnType<typeof setTimeout> | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#overload = new OverloadDetector({ queueMs: 1000 * options.queueSeconds, nowMs: this.#nowMs() });
    this.#threads = new ThreadQueue(Math.max(1, Math.floor(options.workers / 2)));
    this.#workers = new Workers(
      Array.from({ length: options.workers }, (_, index) => this.#createSlot(index)),
    );
  }

  /** Rejects with HasherClosed, QueueFull, WorkerCrashed or an AbortError. */
  async submit(input: JobInput): Promise<Uint8Array> {
    this.#checkOpen(input.signal);
    if (this.#workers.isBroken) throw new WorkerCrashed(this.#lastExitCause);
    // In sustained overload, a full queue rejects its oldest jobs to make room for the new job.
    if (this.#overload.isSustained)
      for (const job of this.#queue) if (!this.#isFull() || !this.#rejectWaiting(job)) break;
    if (this.#isFull()) throw this.#rejected();
    const id = ++this.#lastId;
    const job = new Job({ ...input, id, submittedMs: this.#nowMs() }, (aborted) => this.#onAbort(aborted));
    this.#jobs.set(job.id, job);
    this.#queue.push(job);
    this.#onSubmitted();
    this.#dispatch();
    return job.promise;
  }

  /**
   * Verifies a password in a thread. Rejects with the errors of `submit`; WorkerCrashed means that the verifier failed. Throws
   * QueueFull if the waiting verifications need at least half of the time that all workers need to empty a full queue.
   */
  verify(hash: ThreadHash, password: string, signal?: AbortSignal): Promise<boolean> {
    this.#checkOpen(signal);
    const isFull = !this.#threads.canStart(hash) && 2 * this.#threadsLength() >= this.#queueLimit();
    if (isFull) throw this.#rejected(this.#threadsLength());
    this.#onSubmitted();
    const result = this.#threads.submit(hash, password, this.#nowMs(), signal);
    this.#startExpiryTimer();
    return result.finally(() => {
      if (signal?.aborted) this.#metrics.counts.aborted += 1;
      this.#onSettled();
    });
  }

  /** Resolves when every worker has measured its throughput or is broken, or when the pool is closed. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  stats(): PoolStats {
    const { workers } = this.#options;
    const { kernel, lanes, lanesBusy, capacityPerSecond } = this.#workers;
    return {
      kernel,
      workers,
      lanes,
      lanesBusy,
      queueLength: this.#queueLength(),
      queueLimit: this.#queueLimit(),
      overloaded: this.#overload.isSustained,
      ...this.#metrics.snapshot(),
      capacityPerSecond,
    };
  }

  /** Finishes all submitted jobs, then ends the workers. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#ready.resolve();
    if (this.#unsettled > 0) await this.#drained.promise;
    this.#keepAlive.ref();
    await this.#workers.close();
    clearInterval(this.#keepAlive);
  }

  #createSlot(index: number): WorkerSlot {
    const slot: WorkerSlot = new WorkerSlot(index, {
      ...this.#options,
      onMessage: (message) => this.#onMessage(slot, message),
      onExit: (cause) => this.#onWorkerExit(slot, cause),
    });
    return slot;
  }

  /** Throws if the signal is aborted or the pool is closed. */
  #checkOpen(signal?: AbortSignal): void {
    if (signal?.aborted) throw toAbortError(signal);
    if (this.#closed) throw new HasherClosed();
  }

  #onSubmitted(): void {
    this.#unsettled += 1;
    this.#keepAlive.ref();
  }

  /** The queue is full if no lane is free and the waiting work has reached the limit. */
  #isFull(): boolean {
    return !this.#workers.hasFreeLane && this.#queueLength() >= this.#queueLimit();
  }

  #queueLimit(): number {
    const { queueLimit, queueSeconds } = this.#options;
    return queueLimit ?? Math.max(MIN_QUEUE_LIMIT, Math.ceil(queueSeconds * this.#workers.capacityPerSecond));
  }

  /** In derivations of 600,000 iterations. */
  #queueLength(): number {
    const { prefetchedIterations } = this.#workers;
    return (this.#queue.iterations + prefetchedIterations) / STORED_ITERATIONS;
  }

  /** The derivations that all workers complete in the time that the threads need for the waiting verifications. */
  #threadsLength(): number {
    const workersPerThread = this.#options.workers / this.#threads.threads;
    return (workersPerThread * this.#threads.iterations) / STORED_ITERATIONS;
  }

  #rejected(queueLength = this.#queueLength()): QueueFull {
    this.#metrics.counts.rejected += 1;
    const { capacityPerSecond } = this.#workers;
    const seconds = capacityPerSecond > 0 ? queueLength / capacityPerSecond : 1;
    return new QueueFull(Math.min(this.#options.queueSeconds, Math.max(1, Math.ceil(seconds))));
  }

  /** Assigns waiting jobs to the workers in the order of their ranks, then moves prefetched jobs to free lanes. */
  #dispatch(): void {
    for (let slot = this.#workers.next(); slot; slot = this.#workers.next()) {
      const job = this.#queue.take(this.#overload.isSustained ? "last" : "first");
      if (job) this.#workers.update(slot, () => slot.assign(job));
      else if (!this.#workers.transferTo(slot)) break;
    }
    if (this.#workers.hasFreeLane) this.#overload.onFreeLane(this.#nowMs());
    this.#startExpiryTimer();
  }

  #startExpiryTimer(): void {
    if (this.#queueLength() + this.#threads.iterations > 0)
      this.#expiryTimer ??= setTimeout(() => this.#onExpiryTimer(), EXPIRY_INTERVAL_MS).unref();
  }

  #onExpiryTimer(): void {
    this.#expiryTimer = null;
    const { lanes, capacityPerSecond } = this.#workers;
    const runningMs = capacityPerSecond > 0 ? (1000 * lanes) / capacityPerSecond : 0;
    const expiredMs = this.#nowMs() - this.#overload.maxWaitMs(runningMs);
    for (const job of this.#workers.prefetched()) if (job.submittedMs < expiredMs) this.#rejectWaiting(job);
    for (const job of this.#queue) {
      if (job.submittedMs >= expiredMs) break;
      this.#rejectWaiting(job);
    }
    this.#threads.expire(expiredMs, () => this.#rejected(this.#threadsLength()));
    this.#dispatch();
  }

  /** Rejects a waiting job with QueueFull; returns false if the job is not waiting, or is retried after a crash. */
  #rejectWaiting(job: Job): boolean {
    const isRetried = job.crashes > 0 && this.#nowMs() - job.submittedMs <= 1000 * this.#options.queueSeconds;
    if (isRetried || job.settled || !job.memory.withdrawWaiting()) return false;
    this.#fail(job, this.#rejected());
    return true;
  }

  #onMessage(slot: WorkerSlot, message: FromWorker): void {
    this.#workers.update(slot, () => {
      slot.throughput = message.throughput;
    });
    if (message.kind === "ready" && this.#workers.isReady) this.#ready.resolve();
    const results = message.kind === "done" ? message.jobs : [];
    for (const { id, ticket, finished, runningSeconds } of results) {
      const job = this.#jobs.get(id);
      // Ignores the result of an earlier offer.
      if (job?.workerIndex !== slot.index || job.ticket !== ticket) continue;
      this.#remove(job);
      if (finished && job.resolve()) this.#onCompleted(job, runningSeconds);
    }
    this.#dispatch();
  }

  #onCompleted({ submittedMs, iterations }: Job, runningSeconds: number): void {
    const startedMs = this.#nowMs() - 1000 * runningSeconds;
    const waitedMs = Math.max(0, startedMs - submittedMs);
    this.#overload.onStart({ startedMs, waitedMs });
    this.#metrics.onCompleted({ waitingSeconds: waitedMs / 1000, runningSeconds, iterations });
    this.#onSettled();
  }

  #onAbort(job: Job): void {
    this.#metrics.counts.aborted += 1;
    // A job in a lane stays assigned until its worker drops the job, because the lane is busy until then.
    if (!job.settledInLane) this.#remove(job);
    this.#onSettled();
    this.#dispatch();
  }

  /** Returns the worker's jobs to the front of the queue, in order. A job fails after `MAX_ATTEMPTS` crashes while in a lane. */
  #onWorkerExit(slot: WorkerSlot, cause: unknown): void {
    this.#metrics.counts.crashedWorkers += 1;
    for (const job of this.#workers.update(slot, () => slot.reset()).reverse()) {
      if (job.memory.withdraw()) job.crashes += 1;
      if (job.settled) this.#jobs.delete(job.id);
      else if (job.crashes < MAX_ATTEMPTS) this.#queue.unshift(job);
      else this.#fail(job, new WorkerCrashed(cause));
    }
    this.#lastExitCause = cause;
    if (this.#workers.isReady) this.#ready.resolve();
    if (this.#workers.isBroken)
      for (const job of this.#jobs.values()) this.#fail(job, new WorkerCrashed(cause));
    this.#dispatch();
  }

  #fail(job: Job, error: Error): void {
    this.#remove(job);
    if (job.reject(error)) this.#onSettled();
  }

  /** Removes a job that no lane holds. */
  #remove(job: Job): void {
    this.#queue.delete(job);
    this.#workers.remove(job);
    this.#jobs.delete(job.id);
  }

  #onSettled(): void {
    this.#unsettled -= 1;
    if (this.#unsettled > 0) return;
    this.#keepAlive.unref();
    if (this.#closed) this.#drained.resolve();
  }
}
