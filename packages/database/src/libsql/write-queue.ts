/**
 * The queue of the writing connection. Queries that wait at the same time share one transaction, because each commit blocks
 * the event loop while it is synced. Invariants: a query is settled after the commit of its transaction; and if a query
 * fails, its whole group is rolled back and each query runs again in a transaction of its own.
 */
import type { Attempt } from "../errors.ts";
import { retryUntil } from "./retry.ts";

interface Entry {
  readonly deadline: number;
  /** Runs the query and returns the function that resolves its promise. */
  readonly run: () => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Bounds how long a group blocks the event loop, and how long other processes that write wait for it. Groups of eight write
 * 2.7 times as fast, but then the p99 of reads during writes exceeds twice the idle one (`bun run bench contention`).
 */
const MAX_GROUP = 2;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Runs queries in order of arrival. The time spent in the queue counts towards the timeout. Other events are handled
 * between two transactions.
 * @param transact runs queries and commits; rolls back if one of them fails
 */
export function createWriteQueue(busyTimeoutMs: number, transact: Attempt): Attempt {
  const entries: Entry[] = [];
  let isRunning = false;

  const runGroup = async (group: readonly Entry[], deadline: number): Promise<void> => {
    try {
      const settle = await retryUntil(deadline, () =>
        transact(async () => {
          const resolved: (() => void)[] = [];
          for (const { run } of group) resolved.push(await run());
          return resolved;
        }),
      );
      for (const resolve of settle) resolve();
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const entry of group) await runGroup([entry], entry.deadline);
    }
    await nextTurn();
  };

  const runAll = async (): Promise<void> => {
    isRunning = true;
    for (let [first] = entries; first; [first] = entries)
      await runGroup(entries.splice(0, MAX_GROUP), first.deadline);
    isRunning = false;
  };

  return <T>(query: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const run = async () => {
        const value = await query();
        return () => resolve(value);
      };
      entries.push({ deadline: performance.now() + busyTimeoutMs, run, reject });
      if (!isRunning) void runAll();
    });
}
