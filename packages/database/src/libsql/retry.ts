/**
 * Retries while another process holds the file's lock. libsql is synchronous: a lock wait inside the library would block
 * the event loop, so queries fail immediately and are retried with a timer.
 */
import type { Attempt } from "../errors.ts";
import { isLockConflict, toDomainError } from "./errors.ts";

const MAX_PAUSE_MS = 50;

async function retryUntil<T>(deadline: number, query: () => Promise<T>): Promise<T> {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await query();
    } catch (error) {
      if (!isLockConflict(error) || performance.now() >= deadline) throw toDomainError(error);
    }
    // Half of the pause is random, so that two processes do not collide repeatedly.
    await Bun.sleep(pauseMs * (0.5 + Math.random() / 2));
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** @param busyTimeoutMs how long to retry, in milliseconds; the first attempt is always made */
export function createRetry(busyTimeoutMs: number): Attempt {
  return (query) => retryUntil(performance.now() + busyTimeoutMs, query);
}

/**
 * Runs one query at a time, in order of arrival. The time spent in the queue counts towards the timeout. Each commit blocks
 * the event loop while it is synced, so other events are handled between two queries.
 */
export function createQueuedRetry(busyTimeoutMs: number): Attempt {
  let last: Promise<unknown> = Promise.resolve();
  return (query) => {
    const deadline = performance.now() + busyTimeoutMs;
    const result = last.then(() => retryUntil(deadline, query));
    last = result.then(nextTurn, nextTurn);
    return result;
  };
}
