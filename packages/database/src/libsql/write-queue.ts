/**
 * The queue of the writing connection. Clients take turns. Two waiting writes form a group, which shares one transaction,
 * because each commit blocks the event loop. Invariants: no write runs after its deadline, and a promise is resolved only after
 * the commit. If a write fails, its group is rolled back, and each write of the group runs again in a transaction of its own.
 */
import { callers, withinTimeout } from "../caller.ts";
import { type Attempt, DatabaseUnavailable } from "../errors.ts";
import { Turns } from "../turns.ts";
import { isLockConflict, toDomainError } from "./errors.ts";
import { retryUntil } from "./retry.ts";

interface Entry {
  readonly deadline: number;
  /** Runs the query. Returns a function that resolves the promise of the write. */
  readonly run: () => Promise<() => void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Limits how long a group blocks the event loop, and how long other processes wait to write. Compared with groups of two,
 * groups of eight make writes during reads 3.3 times as fast, but lengthen the p99 of the reads by a quarter
 * (`bun run bench contention`).
 */
const MAX_GROUP = 2;

/** Limits the memory of the queue. At 125 commits per second and two writes per commit, this many writes take four seconds. */
const MAX_WAITING = 1000;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Runs the writes of each client in order of arrival. The time in the queue counts towards the timeout. The event loop
 * handles other events between two transactions.
 * @param transact runs queries and commits, or rolls back if a query fails
 */
export function createWriteQueue(busyTimeoutMs: number, transact: Attempt): Attempt {
  const waiting = new Turns<Entry>();
  let isRunning = false;
  /** The error of the latest transaction, or undefined if that transaction was committed. */
  let latestError: unknown;

  const takeGroup = (): Entry[] => Array.from({ length: MAX_GROUP }).flatMap(() => waiting.take() ?? []);

  const runGroup = async (group: readonly Entry[]): Promise<void> => {
    const deadline = Math.max(...group.map((entry) => entry.deadline));
    try {
      const settle = await retryUntil(deadline, () =>
        transact(async () => {
          const resolved: (() => void)[] = [];
          for (const entry of group) if (performance.now() < entry.deadline) resolved.push(await entry.run());
          return resolved;
        }).catch((error) => {
          latestError = error;
          throw error;
        }),
      );
      latestError = undefined;
      for (const resolve of settle) resolve();
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const entry of group) await runGroup([entry]);
    }
    await nextTurn();
  };

  const runAll = async (): Promise<void> => {
    isRunning = true;
    for (let group = takeGroup(); group.length > 0; group = takeGroup()) await runGroup(group);
    isRunning = false;
  };

  const timeoutError = () =>
    isLockConflict(latestError)
      ? toDomainError(latestError)
      : new DatabaseUnavailable("WRITE_QUEUE_TIMEOUT", "the write waited too long for other writes");

  return <T>(query: () => Promise<T>) =>
    withinTimeout(busyTimeoutMs, (deadline) => {
      const client = callers.getStore()?.client;
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const run = async () => {
        const value = await query();
        return () => resolve(value);
      };
      const entry = { deadline, run, reject };
      waiting.add(client, entry);
      // The removed write never runs, but is rejected only at its deadline, which is the earliest of its client. After an early
      // rejection, the client could occupy the event loop with new requests.
      if (waiting.size > MAX_WAITING) waiting.removeFromLongest();
      const timer = setTimeout(
        () => {
          waiting.delete(client, entry);
          reject(timeoutError());
        },
        Math.max(0, deadline - performance.now()),
      );
      if (!isRunning) void runAll();
      return promise.finally(() => clearTimeout(timer));
    });
}
