/**
 * What the pool and its workers share. Messages carry numbers alone; the secrets of a job live in one piece of shared
 * memory, so that wiping it wipes every copy. A job runs under at most one ticket at a time.
 */
import type { KernelChoice, Pace } from "./kernel/kernel.ts";

/** Bytes of a derived key: one block of HMAC-SHA256. */
export const DIGEST_BYTES = 32;

/** Handed to a worker at its birth; a worker never looks at the environment. */
export interface WorkerSetup {
  readonly kernel: KernelChoice;
  /** 0 to 19. */
  readonly nice: number;
  /** Part of its time that the worker may derive, above 0, to 1. */
  readonly share: number;
}

export type ToWorker =
  | { readonly kind: "job"; readonly id: number; readonly ticket: number; readonly memory: JobShape }
  | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "ready"; readonly pace: Pace }
  /** These left their lanes, all at the end of one slice. */
  | { readonly kind: "left"; readonly jobs: readonly Departure[]; readonly pace: Pace };

/** `finished`: the digest is in the job's memory; otherwise it was dropped because it had been withdrawn. */
export interface Departure {
  readonly id: number;
  readonly finished: boolean;
  readonly runningSeconds: number;
}

export interface JobShape {
  readonly buffer: SharedArrayBuffer;
  readonly passwordBytes: number;
  readonly saltBytes: number;
  readonly iterations: number;
}

const TICKET_BYTES = 4;

/**
 *   ticket (int32) | digest (32 bytes) | password | salt
 *
 * The ticket cell says who may run the job: `t` it is offered under ticket t, `-t` a lane holds it under ticket t, 0 it
 * is withdrawn. A worker that finds another value than the one it holds lets the job go without a word about its digest.
 */
export class JobMemory {
  readonly shape: JobShape;
  readonly digest: Uint8Array;
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly #cell: Int32Array;

  constructor(shape: JobShape) {
    this.shape = shape;
    this.#cell = new Int32Array(shape.buffer, 0, 1);
    this.digest = new Uint8Array(shape.buffer, TICKET_BYTES, DIGEST_BYTES);
    const passwordAt = TICKET_BYTES + DIGEST_BYTES;
    this.password = new Uint8Array(shape.buffer, passwordAt, shape.passwordBytes);
    this.salt = new Uint8Array(shape.buffer, passwordAt + shape.passwordBytes, shape.saltBytes);
  }

  static allocate(size: Omit<JobShape, "buffer">): JobMemory {
    const buffer = new SharedArrayBuffer(TICKET_BYTES + DIGEST_BYTES + size.passwordBytes + size.saltBytes);
    return new JobMemory({ ...size, buffer });
  }

  /** Offers the job under a new ticket, whatever became of the one before. */
  offer(ticket: number): void {
    Atomics.store(this.#cell, 0, ticket);
  }

  /** Offers the job under another ticket unless a lane holds it already. */
  reoffer(from: number, ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, from, ticket) === from;
  }

  /** The worker's side: from here on the job is in a lane, unless the offer is void. */
  claim(ticket: number): boolean {
    return Atomics.compareExchange(this.#cell, 0, ticket, -ticket) === ticket;
  }

  isClaimed(ticket: number): boolean {
    return Atomics.load(this.#cell, 0) === -ticket;
  }

  /** Voids every ticket; true if a lane held the job, which then lets go at the end of its slice. */
  withdraw(): boolean {
    return Atomics.exchange(this.#cell, 0, 0) < 0;
  }

  wipe(): void {
    this.password.fill(0);
    this.salt.fill(0);
    this.digest.fill(0);
  }
}
