/** The priority of the threads that derive: below the event loop, so that a probe never waits for a login. */
import { getPriority, setPriority } from "node:os";
import { assertWorkerThread } from "./kernel/kernel.ts";

/** Process id that stands for the caller; on Linux, for the calling thread alone (setpriority(2), "Notes"). */
const CALLER = 0;

/**
 * Lowers the calling worker thread. Linux only: elsewhere the value belongs to the whole process.
 * @param nice 0 to 19; a thread that is lower already stays where it is.
 */
export function lowerThreadPriority(nice: number): void {
  assertWorkerThread();
  if (process.platform !== "linux" || getPriority(CALLER) >= nice) return;
  setPriority(CALLER, nice);
}
