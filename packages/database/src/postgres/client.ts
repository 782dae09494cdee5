/**
 * The pool, and the deadline that every query has. The invariant: a caller waits no longer than the deadline, whatever the
 * server does, and no later query goes to a pool in which one overran it.
 */

import { SQL } from "bun";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import { deadlineReason, domainError, isReadOnly, unavailable } from "./errors.ts";
import type { Address } from "./url.ts";

/** Runs a query, for no longer than the deadline, and rejects with domain errors alone. */
export type Attempt = <T>(query: () => Promise<T>) => Promise<T>;

export interface PostgresClient {
  readonly orm: BunSQLDatabase;
  readonly attempt: Attempt;
  close(): Promise<void>;
}

export interface PostgresClientOptions {
  readonly address: Address;
  /** Connections held at most. */
  readonly poolSize: number;
  /** In milliseconds. A little less is the server's own limit, so that a slow query ends without costing the pool. */
  readonly deadlineMs: number;
}

/** The part of the deadline after which a server that is well ends a query by itself. */
const serverShare = 7 / 8;

/** The shortest time between two attempts to find a server that accepts writes. */
const readOnlyPauseMs = 1_000;

const connectionTimeoutMs = 3_000;

interface ConnectOptions {
  readonly address: Address;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
}

/** A pool that has opened no connection yet. */
export function connect({ address, poolSize, statementTimeoutMs }: ConnectOptions): SQL {
  return new SQL({
    ...address,
    adapter: "postgres",
    max: poolSize,
    connectionTimeout: connectionTimeoutMs / 1_000,
    connection: {
      application_name: "latchkey",
      search_path: "public",
      statement_timeout: statementTimeoutMs,
    },
  });
}

/** Guarantee: what Drizzle's session calls outside of transactions, which are the migrations' alone. */
function createOrm(client: Pick<SQL, "unsafe">): BunSQLDatabase {
  return drizzle({ client: client as SQL });
}

/**
 * The query's outcome, or `DatabaseUnavailable` when there is none in time; an outcome that comes later is dropped.
 * @param onOverrun called when the time is up, before the rejection
 */
export async function withDeadline<T>(
  query: Promise<T>,
  deadlineMs: number,
  onOverrun?: () => void,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    onOverrun?.();
    late.reject(unavailable(deadlineReason));
  }, deadlineMs);
  try {
    return await Promise.race([query, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function openClient({ address, poolSize, deadlineMs }: PostgresClientOptions): PostgresClient {
  const open = () => connect({ address, poolSize, statementTimeoutMs: Math.floor(deadlineMs * serverShare) });
  let pool = open();
  let replacedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  /** What still runs in the pool that is given up has the deadline to finish. */
  const replace = (unfit: SQL) => {
    if (unfit !== pool || closed) return;
    pool = open();
    replacedAt = performance.now();
    unfit.close({ timeout: deadlineMs / 1_000 }).catch(() => undefined);
  };

  return {
    orm: createOrm({ unsafe: (text, values) => pool.unsafe(text, values) }),
    attempt: async (query) => {
      const used = pool;
      try {
        // A connection to a server that froze or vanished never fails by itself.
        return await withDeadline(query(), deadlineMs, () => replace(used));
      } catch (error) {
        const failure = domainError(error);
        // After a failover the old server keeps its connections and its name may lead to the new one: ask again.
        if (isReadOnly(failure) && performance.now() - replacedAt > readOnlyPauseMs) replace(used);
        throw failure;
      }
    },
    close: async () => {
      closed = true;
      await pool.close({ timeout: deadlineMs / 1_000 });
    },
  };
}

/** The row of a statement that returns exactly one when it succeeds: an INSERT of one row. */
export function returned<T>([row]: T[]): T {
  if (row === undefined) throw new Error("An INSERT returned no row: is there a trigger that drops it?");
  return row;
}
