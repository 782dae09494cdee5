/**
 * The protocol between the pool and its workers. Messages contain only numbers. The secrets of a job are in one piece of
 * shared memory: wiping it wipes every copy. A job runs under at most one ticket at a time.
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

/** One job under one ticket, as it is posted to a worker. */
export interface JobOffer {
  readonly id: number;
  readonly ticket: number;
  readonly shape: MemoryShape;
}

export type ToWorker = ({ readonly kind: "job" } & JobOffer) | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready"; readonly throughput: Throughput }
  /** The jobs whose lanes were cleared after one slice. */
  | { readonly kind: "done"; readonly jobs: readonly JobResult[]; readonly throughput: Throughput };

export interface JobResult {
  readonly id: number;
  /** The ticket under which the lane held the job: a late message of an exited worker does not settle a later attempt. */
  readonly ticket: number;
  /** Whether the digest is in the job's memory; false if the job was withdrawn while it was in its lane. */
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
 * The ticket cell states who can run the job: `t` means that it is offered under ticket t, `-t` that a lane holds it
 * under ticket t, 0 that it is withdrawn. A worker that finds any other value than its own drops the job.
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

  /** Offers the job under a new ticket, regardless of the previous one. */
  offer(ticket: number): void {
    Atomics.store(this.#cell, 0, ticket);
  }

  /** Offers the job under a new ticket unless a lane already holds it. */
  reoffer(from: number, ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, from, ticket) === from;
  }

  /** Called by the worker before the job enters a lane; false if this offer is no longer valid. */
  claim(ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, ticket, -ticket) === ticket;
  }

  /**
   * Whether the claim still holds. The exchange orders this after the digest that the worker has written: either this returns
   * false, or the thread that withdraws the job later also wipes the digest.
   */
  isClaimed(ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, -ticket, -ticket) === -ticket;
  }

  /** Invalidates every ticket of a job that waits; false if a lane holds the job. */
  withdrawWaiting(): boolean {
    const ticket = Atomics.load(this.#cell, 0);
    return ticket >= 0 && this.reoffer(ticket, 0);
  }

  /** Invalidates every ticket; true if a lane held the job, which the worker then drops at the end of its slice. */
  withdraw(): boolean {
    return Atomics.exchange(this.#cell, 0, 0) < 0;
  }

  wipe(): void {
    this.password.fill(0);
    this.salt.fill(0);
    this.digest.fill(0);
  }
}
