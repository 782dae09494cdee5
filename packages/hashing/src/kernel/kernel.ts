/** What a kernel is: lanes that advance together, slice by slice, inside a worker thread. */
import { isMainThread } from "node:worker_threads";

/** One job as a lane takes it. The bytes may be gone once `load` returns. */
export interface LaneJob {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  /** 1 to 10,000,000. */
  readonly iterations: number;
}

/** Lives in one worker. Lanes are numbered from 0; each is free or holds one job. */
export interface Kernel {
  readonly lanes: number;
  /** Puts a job into a free lane. */
  load(lane: number, job: LaneJob): void;
  /** Advances the occupied lanes for one slice, at least until the shortest job ends or a few milliseconds pass. */
  run(): void;
  isFinished(lane: number): boolean;
  /** Writes the 32 bytes of a finished lane. */
  read(lane: number, digest: Uint8Array): void;
  /** Overwrites the lane and frees it, finished or not. */
  clear(lane: number): void;
  /** Derivations of 600,000 iterations per second with every lane occupied, by what was measured last. */
  capacityPerSecond(): number;
}

/** Which kernel a worker is to make: plain data that can be posted. */
export type KernelChoice = { readonly kind: "portable" };

/** Throws on the event loop's thread: a derivation there would stop the whole service for its time. */
export function assertWorkerThread(): void {
  if (isMainThread) throw new Error("A derivation must not run on the main thread");
}
