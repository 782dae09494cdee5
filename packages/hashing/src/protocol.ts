/**
 * The protocol between the pool and its workers. Messages contain no secrets. The secrets of a job are in one piece of
 * shared memory: posting the job does not copy them. A job runs under at most one ticket at a time.
 */
import type { QuotaBudget } from "./cpu-quota.ts";
import { DIGEST_BYTES, type KernelChoice, type Throughput } from "./kernel/kernel.ts";

/** Passed to each worker when it starts; a worker never reads the environment. */
export interface WorkerSetup {
  readonly kernel: KernelChoice;
  /** 0 to 19. */
  readonly nice: number;
  /** Null without a CPU quota. */
  readonly quota: QuotaBudget | null;
}

/** A job that is posted to a worker under one ticket. */
export interface JobOffer {
  readonly id: number;
  readonly ticket: number;
  readonly shape: MemoryShape;
}

export type ToWorker = ({ readonly kind: "job" } & JobOffer) | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready"; readonly throughput: Throughput }
  /** The jobs whose lanes were cleared directly before or after one slice. */
  | { readonly kind: "done"; readonly jobs: readonly JobResult[]; readonly throughput: Throughput };

export interface JobResult {
  readonly id: number;
  /** The ticket under which the lane held the job. The pool ignores results of older tickets. */
  readonly ticket: number;
  /** Whether the digest is in the job's memory; false if the job was withdrawn from its lane. */
  readonly finished: boolean;
  readonly runningSeconds: number;
}

interface MemoryShape {
  readonly buffer: SharedArrayBuffer;
  readonly passwordBytes: number;
  readonly saltBytes: number;
  readonly iterations: number;
}

const TICKET_BYTES = 4;

/**
 *   ticket (int32) | digest (32 bytes) | password | salt
 *
 * The ticket cell contains `t` if the job is offered under ticket t, `-t` if a lane holds the job under ticket t, and 0 if
 * the job is withdrawn. A worker drops a job whose cell contains another ticket or 0.
 */
export class JobMemory {
  readonly shape: MemoryShape;
  readonly digest: Uint8Array;
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly #cell: Int32Array;

  constructor(shape: MemoryShape) {
    this.shape = shape;
    this.#cell = new Int32Array(shape.buffer, 0, 1);
    this.digest = new Uint8Array(shape.buffer, TICKET_BYTES, DIGEST_BYTES);
    const passwordAt = TICKET_BYTES + DIGEST_BYTES;
    this.password = new Uint8Array(shape.buffer, passwordAt, shape.passwordBytes);
    this.salt = new Uint8Array(shape.buffer, passwordAt + shape.passwordBytes, shape.saltBytes);
  }

  static allocate(size: Omit<MemoryShape, "buffer">): JobMemory {
    const buffer = new SharedArrayBuffer(TICKET_BYTES + DIGEST_BYTES + size.passwordBytes + size.saltBytes);
    return new JobMemory({ ...size, buffer });
  }

  /** Offers the job under a new ticket, regardless of the previous ticket. */
  offer(ticket: number): void {
    Atomics.store(this.#cell, 0, ticket);
  }

  /** Offers the job under a new ticket; returns false if the job is no longer offered under `from`. */
  reoffer(from: number, ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, from, ticket) === from;
  }

  /** Called by the worker before the job enters a lane. Returns false if the offer under this ticket is no longer valid. */
  claim(ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, ticket, -ticket) === ticket;
  }

  /**
   * Returns whether a lane still holds the job under this ticket. The exchange takes effect after all earlier writes of the
   * worker, such as the digest. A thread that withdraws the job later and wipes its memory therefore wipes the digest as well.
   */
  isClaimed(ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, -ticket, -ticket) === -ticket;
  }

  /** Withdraws a waiting job; returns false if a lane holds the job. */
  withdrawWaiting(): boolean {
    const ticket = Atomics.load(this.#cell, 0);
    return ticket >= 0 && this.reoffer(ticket, 0);
  }

  /** Withdraws the job. Returns true if a lane held the job: the worker then drops the job at the end of the slice. */
  withdraw(): boolean {
    return Atomics.exchange(this.#cell, 0, 0) < 0;
  }

  wipe(): void {
    this.password.fill(0);
    this.salt.fill(0);
    this.digest.fill(0);
  }
}
