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

/** The result of one slice. */
export interface Slice {
  /** The sum over all lanes. */
  readonly iterations: number;
  /** The processor time. */
  readonly seconds: number;
}

/** The kernel of one worker. Lanes are numbered from 0; each lane is free or holds one job. */
export interface Kernel {
  /** Can increase, but never decreases. */
  readonly lanes: number;
  /** Puts a job into a free lane. */
  load(lane: number, job: LaneJob): void;
  /** Advances busy lanes for one slice of a few milliseconds. The slice ends early when a job finishes. */
  run(): Slice;
  isFinished(lane: number): boolean;
  /** Writes the 32 bytes of a finished lane. */
  read(lane: number, digest: Uint8Array): void;
  /** Overwrites and frees the lane, whether or not its job has finished. */
  clear(lane: number): void;
  throughput(): Throughput;
}

/** The throughput of one worker with all lanes busy. */
export interface Throughput {
  /** The name of the kernel that does most of the work. */
  readonly kernel: string;
  readonly lanes: number;
  /** Derivations of 600,000 iterations per second. */
  readonly capacityPerSecond: number;
}

/** Which kernel a worker creates, as data that can be posted to the worker. */
export type KernelChoice =
  | { readonly kind: "portable" }
  /** The addon's file and the variants that can be used, at least one. */
  | { readonly kind: "native"; readonly path: string; readonly variants: readonly KernelVariant[] };
