/**
 * Retries a query while another process holds the lock of the file. libsql is synchronous: waiting for a lock in libsql would
 * block the event loop. Therefore, queries fail immediately, and a timer starts each retry.
 */
import { withinTimeout } from "../caller.ts";
import type { Attempt } from "../errors.ts";
import { isLockConflict, toDomainError } from "./errors.ts";

const MAX_PAUSE_MS = 50;

/** Runs the query at least once. Repeats the query after each lock conflict until `deadline`. */
export async function retryUntil<T>(deadline: number, query: () => Promise<T>): Promise<T> {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await query();
    } catch (error) {
      if (!isLockConflict(error) || performance.now() >= deadline) throw toDomainError(error);
    }
    // Half of the pause is random, because two processes should not collide repeatedly.
    await Bun.sleep(pauseMs * (0.5 + Math.random() / 2));
  }
}

/** @param busyTimeoutMs how long to retry, in milliseconds; the first attempt is always made */
export function createRetry(busyTimeoutMs: number): Attempt {
  return (query) => withinTimeout(busyTimeoutMs, (deadline) => retryUntil(deadline, query));
}
