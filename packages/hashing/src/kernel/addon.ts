/** The interface of the native addon, `native/addon.c`. */
import { createRequire } from "node:module";

/** The number of 32-bit words of one lane: 8 each for inner midstate, outer midstate, U and T (see `native/lane.h`). */
export const LANE_WORDS = 32;
/** The index of the first word of T, the derived key. */
export const LANE_T = 24;

/** A kernel at one of its widths. */
export interface KernelVariant {
  /** The number that {@link NativeAddon.advance} takes. */
  readonly id: number;
  /** The kernel's name, such as `avx2`. */
  readonly family: string;
  /** The maximum number of lanes that the variant advances together; fewer lanes take the same time. */
  readonly width: number;
}

/** A variant in the addon's list. */
export interface ListedVariant extends KernelVariant {
  /** What this processor or its operating system lacks; null if the variant can run. */
  readonly missing: string | null;
}

/** The addon's exports. Each function throws a TypeError or a RangeError for an invalid argument before it writes memory. */
export interface NativeAddon {
  readonly kernels: readonly ListedVariant[];
  /** Writes both midstates, U1 and T = U1 into `lane`. Password and salt can have any length, including 0. */
  prepareLane(state: Uint32Array, lane: number, password: Uint8Array, salt: Uint8Array): void;
  /**
   * Starts a thread with this nice value (1 to 19, nice(2)), on which the worker's further calls of {@link advance} run. The
   * thread yields several times per millisecond and ends with the worker. Returns false if the thread cannot start, and on
   * systems other than Linux, because their threads have no nice value of their own.
   */
  startThread(nice: number): boolean;
  /**
   * Advances lanes by `iterations` (1 to 2^32 - 1). `lanes` contains distinct indices, from one to as many as the kernel's width.
   * Runs on the thread of {@link startThread} if there is one, otherwise on the calling thread. Blocks until done. Returns the
   * processor time in seconds.
   */
  advance(kernel: number, state: Uint32Array, lanes: Uint32Array, iterations: number): number;
}

/**
 * Loads the addon in the calling thread. Throws if the file is not an addon for this process. The type is safe because the
 * file's name contains a hash of the sources, and these sources export exactly these functions.
 */
export function loadAddon(path: string): NativeAddon {
  return createRequire(import.meta.url)(path);
}
