/** The kernel interface: lanes that advance together, slice by slice, inside a worker thread. */
import type { KernelVariant } from "./addon.ts";

/** The length of a derived key: one block of HMAC-SHA256. */
export const DIGEST_BYTES = 32;

/** The input of a lane. `load` copies the bytes. */
export interface LaneJob {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  /** 1 to 10,000,000. */
  readonly iterations: number;
}

/** What a slice did. */
export interface Slice {
  /** The sum of all lanes. */
  readonly iterations: number;
  /** The processor time. */
  readonly seconds: number;
}

/** Belongs to one worker. Lanes are numbered from 0; each is free or holds one job. */
export interface Kernel {
  readonly lanes: number;
  /** Puts a job into a free lane. */
  load(lane: number, job: LaneJob): void;
  /** Advances busy lanes for one slice of a few milliseconds, which ends early when a job finishes. */
  run(): Slice;
  isFinished(lane: number): boolean;
  /** Writes the 32 bytes of a finished lane. */
  read(lane: number, digest: Uint8Array): void;
  /** Overwrites the lane and frees it, finished or not. */
  clear(lane: number): void;
  throughput(): Throughput;
}

/** The throughput of one worker with all lanes busy. */
export interface Throughput {
  /** The name of the kernel that does most of the work. */
  readonly kernel: string;
  /** Derivations of 600,000 iterations per second. */
  readonly capacityPerSecond: number;
}

/** The kernel that a worker creates: plain data that can be posted. */
export type KernelChoice =
  | { readonly kind: "portable" }
  /** The addon's file and the variants that can be used, at least one. */
  | { readonly kind: "native"; readonly path: string; readonly variants: readonly KernelVariant[] };
