/** Many derivations over few threads: one bounded line in front, and each job settles exactly once. */
import { HasherClosed, QueueFull, WorkerCrashed } from "./errors.ts";
import { Job, type JobInput } from "./job.ts";
import { Histogram, type HistogramSnapshot, Rate } from "./metrics.ts";
import type { FromWorker, WorkerSetup } from "./protocol.ts";
import { Queue } from "./queue.ts";
import { Seat } from "./seat.ts";

const MIN_QUEUE_LIMIT = 64;
/** How long the last in a full line waits, if the caller sets no limit. */
const QUEUE_SECONDS = 5;

export interface PoolOptions {
  readonly workers: number;
  /** Waiting derivations; undefined: five seconds of the measured capacity, at least 64. */
  readonly queueLimit: number | undefined;
  /** Lanes of one worker. */
  readonly lanes: number;
  readonly setup: WorkerSetup;
  /** The worker's module. */
  readonly entry: URL;
}

export interface PoolStats {
  /** The kernel that does most of the work when all lanes are busy; null until a worker has measured. */
  readonly kernel: string | null;
  readonly workers: number;
  /** Lanes of all workers. */
  readonly lanes: number;
  readonly lanesBusy: number;
  /** Derivations that wait for a lane. */
  readonly queueLength: number;
  readonly queueLimit: number;
  /** From the call to a lane, in seconds. */
  readonly waiting: HistogramSnapshot;
  /** In a lane, in seconds. */
  readonly running: HistogramSnapshot;
  /** Finished derivations, and the iterations that they cost together. */
  readonly completed: number;
  readonly iterations: number;
  readonly aborted: number;
  /** Turned away by a full line. */
  readonly refused: number;
  readonly crashedWorkers: number;
  /** Finished per second, over the last ten seconds. */
  readonly derivationsPerSecond: number;
  /** Derivations of 600,000 iterations per second that all lanes together can do; 0 until a worker has measured. */
  readonly capacityPerSecond: number;
}

/**
 *     submit ─> line ─> seat ─> worker [lane][lane]... + next
 *
 * A job is in `#jobs` until it has settled and no worker holds it. Waiting are those in the line and those that a seat
 * holds beyond its lanes; that sum is what the limit bounds.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #line = new Queue<Job>();
  readonly #seats: Seat[];
  readonly #jobs = new Map<number, Job>();
  readonly #waiting = new Histogram();
  readonly #running = new Histogram();
  readonly #rate = new Rate(() => performance.now());
  readonly #ready = Promise.withResolvers<void>();
  readonly #counts = { completed: 0, iterations: 0, aborted: 0, refused: 0, crashedWorkers: 0 };
  #queueLimit: number;
  #lastId = 0;
  #unsettled = 0;
  #lastDeath: unknown;
  #closing: PromiseWithResolvers<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queueLimit = options.queueLimit ?? MIN_QUEUE_LIMIT;
    this.#seats = Array.from({ length: options.workers }, () => this.#createSeat());
  }

  /** Rejects with HasherClosed, QueueFull, WorkerCrashed, or an AbortError. */
  submit(input: JobInput): Promise<Uint8Array> {
    if (this.#closing) return Promise.reject(new HasherClosed());
    if (this.#isBroken()) return Promise.reject(new WorkerCrashed(this.#lastDeath));
    if (!this.#hasRoom()) {
      this.#counts.refused += 1;
      return Promise.reject(new QueueFull(this.#retryAfterSeconds()));
    }
    const job = new Job(++this.#lastId, input, (aborted) => this.#abort(aborted));
    this.#jobs.set(job.id, job);
    this.#line.push(job);
    this.#unsettled += 1;
    this.#keepProcess();
    this.#dispatch();
    return job.promise;
  }

  /** Resolves once every worker has measured its pace; one that cannot be started, or a closed pool, is not waited for. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  stats(): PoolStats {
    return {
      kernel: this.#seats.find((seat) => seat.pace !== null)?.pace?.kernel ?? null,
      workers: this.#seats.length,
      lanes: this.#seats.length * this.#options.lanes,
      lanesBusy: this.#sum((seat) => seat.lanesBusy),
      queueLength: this.#waitingCount(),
      queueLimit: this.#queueLimit,
      waiting: this.#waiting.snapshot(),
      running: this.#running.snapshot(),
      ...this.#counts,
      derivationsPerSecond: this.#rate.perSecond(),
      capacityPerSecond: this.#capacity(),
    };
  }

  /** Finishes what was admitted, then ends the workers. */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = Promise.withResolvers<void>();
      this.#ready.resolve();
      this.#closeIfDone();
    }
    return this.#closing.promise;
  }

  #createSeat(): Seat {
    const seat: Seat = new Seat({
      lanes: this.#options.lanes,
      entry: this.#options.entry,
      setup: this.#options.setup,
      onMessage: (message) => this.#hear(seat, message),
      onDeath: (cause) => this.#bury(seat, cause),
      onSpawn: () => this.#dispatch(),
    });
    return seat;
  }

  /** The one definition of full: no lane is free, and as many wait as may. */
  #hasRoom(): boolean {
    return this.#seats.some((seat) => seat.freeLanes > 0) || this.#waitingCount() < this.#queueLimit;
  }

  /** No worker lives, and none has finished anything for several lives. */
  #isBroken(): boolean {
    return this.#seats.every((seat) => seat.broken && !seat.alive);
  }

  #waitingCount(): number {
    return this.#line.size + this.#sum((seat) => seat.staged);
  }

  #capacity(): number {
    return this.#sum((seat) => seat.pace?.capacityPerSecond ?? 0);
  }

  #retryAfterSeconds(): number {
    const capacity = this.#capacity();
    return capacity > 0 ? Math.max(1, Math.ceil(this.#waitingCount() / capacity)) : 1;
  }

  /**
   * Hands out the line in its order, each job to the seat that holds the fewest; then evens out what waits in seats. Seats
   * whose jobs ended unevenly may still differ by more than one: a job stays in its lane, since to move its keyed state
   * through shared memory would save, once, at best 40 % of one derivation's time.
   */
  #dispatch(): void {
    for (;;) {
      const seat = this.#emptiestSeat();
      if (!seat || seat.room === 0) return;
      const job = this.#line.shift();
      if (job) seat.take(job);
      else if (seat.freeLanes === 0 || !this.#seats.some((other) => other.giveTo(seat))) return;
    }
  }

  #emptiestSeat(): Seat | undefined {
    let emptiest: Seat | undefined;
    for (const seat of this.#seats)
      if (seat.alive && seat.held < (emptiest?.held ?? Infinity)) emptiest = seat;
    return emptiest;
  }

  #hear(seat: Seat, message: FromWorker): void {
    seat.pace = message.pace;
    if (message.kind === "ready") {
      this.#setLimit();
      this.#readyIfMeasured();
    }
    if (message.kind !== "left") return;
    for (const { id, finished, runningSeconds } of message.jobs) {
      const job = this.#jobs.get(id);
      // One that this seat no longer holds is another worker's by now.
      if (!job || !seat.release(job)) continue;
      this.#jobs.delete(id);
      if (finished && job.resolve()) this.#count(job, runningSeconds);
    }
    this.#dispatch();
  }

  #count(job: Job, runningSeconds: number): void {
    const totalSeconds = (performance.now() - job.admittedMs) / 1000;
    this.#waiting.observe(Math.max(0, totalSeconds - runningSeconds));
    this.#running.observe(runningSeconds);
    this.#counts.completed += 1;
    this.#counts.iterations += job.memory.shape.iterations;
    this.#rate.add(1);
    this.#settled();
  }

  /** The limit follows the capacity at start: once, when every worker has measured its own. */
  #setLimit(): void {
    if (this.#options.queueLimit !== undefined || this.#queueLimit !== MIN_QUEUE_LIMIT) return;
    if (this.#seats.some((seat) => seat.pace === null)) return;
    this.#queueLimit = Math.max(MIN_QUEUE_LIMIT, Math.ceil(QUEUE_SECONDS * this.#capacity()));
  }

  #readyIfMeasured(): void {
    if (this.#seats.every((seat) => seat.pace !== null || seat.broken)) this.#ready.resolve();
  }

  #abort(job: Job): void {
    this.#counts.aborted += 1;
    // In a lane it stays until its worker lets go of it, so that the lane counts as busy for as long as it is.
    if (!job.memory.withdraw()) {
      this.#line.delete(job);
      for (const seat of this.#seats) seat.release(job);
      this.#jobs.delete(job.id);
    }
    this.#settled();
    this.#dispatch();
  }

  /** A job whose lane died once gets another; jobs of a dead worker keep their place before all that wait. */
  #bury(seat: Seat, cause: unknown): void {
    this.#counts.crashedWorkers += 1;
    for (const job of seat.empty().reverse()) {
      if (job.memory.withdraw()) job.deaths += 1;
      if (job.settled) this.#jobs.delete(job.id);
      else if (job.deaths < 2) this.#line.unshift(job);
      else this.#fail(job, cause);
    }
    this.#lastDeath = cause;
    this.#readyIfMeasured();
    if (this.#isBroken())
      for (let job = this.#line.shift(); job; job = this.#line.shift()) this.#fail(job, cause);
    this.#dispatch();
  }

  #fail(job: Job, cause: unknown): void {
    this.#jobs.delete(job.id);
    if (job.reject(new WorkerCrashed(cause))) this.#settled();
  }

  #settled(): void {
    this.#unsettled -= 1;
    this.#keepProcess();
    this.#closeIfDone();
  }

  /** A forgotten hasher lets the process end; one that owes an answer does not. */
  #keepProcess(): void {
    if (this.#unsettled > 1) return;
    for (const seat of this.#seats) seat.keepProcess(this.#unsettled > 0);
  }

  #closeIfDone(): void {
    const closing = this.#closing;
    if (!closing || this.#unsettled > 0) return;
    void Promise.all(this.#seats.map((seat) => seat.close())).then(() => closing.resolve());
  }

  #sum(of: (seat: Seat) => number): number {
    return this.#seats.reduce((total, seat) => total + of(seat), 0);
  }
}
