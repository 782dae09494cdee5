/**
 * The client on whose behalf queries run. The embedded database takes turns between clients, and the queries of one request
 * share a timeout. The asynchronous context carries both: no query of a request can be without them.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Caller {
  /** Any text that identifies the client. */
  client: string;
  /** The total time of the queries so far, in milliseconds. */
  queriedMs: number;
}

/** Queries without a caller, such as those of migrations, have one queue, and each has the whole timeout. */
export const callers = new AsyncLocalStorage<Caller>();

/** @param query receives its deadline, in milliseconds of `performance.now()` */
export function withinTimeout<T>(timeoutMs: number, query: (deadline: number) => Promise<T>): Promise<T> {
  const caller = callers.getStore();
  const startedAt = performance.now();
  if (!caller) return query(startedAt + timeoutMs);
  return query(startedAt + timeoutMs - caller.queriedMs).finally(() => {
    caller.queriedMs += performance.now() - startedAt;
  });
}
