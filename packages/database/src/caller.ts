/**
 * The client for which queries run, and the total time of these queries. The writes of different clients take turns, and in the embedded
 * database, all queries of a request share one timeout. A query finds its `Caller` in the asynchronous context.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Caller {
  /** Any text that identifies the client. */
  client: string;
  /** The total time of the queries so far, in milliseconds. */
  queriedMs: number;
}

/** Queries without a caller are those of the service itself, such as the sender of mails. Each of them has the whole timeout. */
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
