/**
 * The patience with other processes that share the file. libsql is synchronous: a statement must never wait for a lock
 * inside the library, where it would hold up the event loop, but on a timer out here.
 */

import { domainError, isLockConflict } from "./errors.ts";

/** Runs a query, again while another process holds the lock, and rejects with domain errors alone. */
export type Attempt = <T>(query: () => Promise<T>) => Promise<T>;

const longestPauseMs = 50;

async function attemptUntil<T>(deadline: number, query: () => Promise<T>): Promise<T> {
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await query();
    } catch (error) {
      if (!isLockConflict(error) || performance.now() >= deadline) throw domainError(error);
    }
    // Half of the pause is random, so that two processes do not keep meeting.
    await Bun.sleep(pauseMs * (0.5 + Math.random() / 2));
  }
}

/** @param patienceMs how long to try, in milliseconds; the first attempt is always made. */
export function createAttempt(patienceMs: number): Attempt {
  return (query) => attemptUntil(performance.now() + patienceMs, query);
}

/** The same for queries that take turns in the order of their arrival: the wait for the turn counts. */
export function createQueuedAttempt(patienceMs: number): Attempt {
  let last: Promise<unknown> = Promise.resolve();
  return (query) => {
    const deadline = performance.now() + patienceMs;
    const turn = last.then(() => attemptUntil(deadline, query));
    last = turn.catch(() => undefined);
    return turn;
  };
}
