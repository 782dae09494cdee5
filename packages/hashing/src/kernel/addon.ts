/** The interface of the native addon, `native/addon.c`. */
import { createRequire } from "node:module";

/** The 32-bit words of one lane in a lane buffer: inner midstate 8, outer midstate 8, U 8, T 8 (see `native/lane.h`). */
export const LANE_WORDS = 32;
/** The index of the first word of T, the derived key. */
export const LANE_T = 24;

/** One way to advance lanes together: a kernel at one width. */
export interface KernelVariant {
  /** The number that {@link NativeAddon.advance} takes. */
  readonly id: number;
  /** The kernel's name, such as `avx2`. */
  readonly family: string;
  /** The maximum number of lanes that it advances together; fewer lanes take the same time. */
  readonly width: number;
}

/** A variant as the addon lists it. */
export interface ListedVariant extends KernelVariant {
  /** What this processor or its operating system lacks; null if the variant can run. */
  readonly missing: string | null;
}

/** The addon's exports. Each function throws a TypeError or a RangeError for an invalid argument before it writes memory. */
export interface NativeAddon {
  readonly kernels: readonly ListedVariant[];
  /** Writes PBKDF2's first iteration for (password, salt) into `lane`: midstates, U1, T = U1. Any lengths, including 0. */
  prepareLane(state: Uint32Array, lane: number, password: Uint8Array, salt: Uint8Array): void;
  /**
   * Starts a thread with this nice value (1 to 19, nice(2)), which yields several times per millisecond, for every further
   * {@link advance} of the calling worker; it ends with this worker. Returns false if that fails, and on systems other than
   * Linux, where threads have no nice value of their own.
   */
  startThread(nice: number): boolean;
  /**
   * Advances distinct lane indices (1 to as many as the kernel's width) by `iterations` (1 to 2^32 - 1), on the calling thread
   * or on that of {@link startThread}. Blocks until done and returns the processor time in seconds.
   */
  advance(kernel: number, state: Uint32Array, lanes: Uint32Array, iterations: number): number;
}

/**
 * Loads the addon in the calling thread. Throws if the file is not an addon for this process. The type is safe because the
 * file's name contains a hash of the sources, which export exactly these functions.
 */
export function loadAddon(path: string): NativeAddon {
  return createRequire(import.meta.url)(path);
}
