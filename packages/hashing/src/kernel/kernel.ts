/** What a kernel is: lanes that advance together, slice by slice, inside a worker thread. */
import { isMainThread } from "node:worker_threads";
import type { NativeKernel } from "./native.ts";

/** One job as a lane takes it. The bytes may be gone once `load` returns. */
export interface LaneJob {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  /** 1 to 10,000,000. */
  readonly iterations: number;
}

/** How long a slice is at most: `brief` is a part of a `full` one. */
export type Slice = "brief" | "full";

/** Lives in one worker. Lanes are numbered from 0; each is free or holds one job. */
export interface Kernel {
  readonly lanes: number;
  /** Puts a job into a free lane. */
  load(lane: number, job: LaneJob): void;
  /** Advances the occupied lanes for one slice: until the shortest job ends or a few milliseconds have passed. */
  run(slice: Slice): void;
  isFinished(lane: number): boolean;
  /** Writes the 32 bytes of a finished lane. */
  read(lane: number, digest: Uint8Array): void;
  /** Overwrites the lane and frees it, finished or not. */
  clear(lane: number): void;
  pace(): Pace;
}

/** How fast a worker is with every lane occupied, by what was measured last. */
export interface Pace {
  /** The name of the kernel that does most of it. */
  readonly kernel: string;
  /** Derivations of 600,000 iterations. */
  readonly capacityPerSecond: number;
}

/** Which kernel a worker is to make: plain data that can be posted. */
export type KernelChoice =
  | { readonly kind: "portable" }
  /** The addon's file and those of its kernels that may be used, at least one. */
  | { readonly kind: "native"; readonly path: string; readonly variants: readonly NativeKernel[] };

/** Throws on the event loop's thread: a derivation there would stop the whole service for its time. */
export function assertWorkerThread(): void {
  if (isMainThread) throw new Error("A derivation must not run on the main thread");
}
