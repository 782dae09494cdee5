/**
 * Enforces the deadline of each query. Invariants: apart from stalls of the event loop, a caller never waits longer than the
 * deadline. After a query has exceeded the deadline, later queries use new connections.
 */
import type { SQL } from "bun";
import { fillPlaceholders } from "drizzle-orm";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import type { Attempt } from "../errors.ts";
import type { RepositoryClient } from "../repositories/repository-client.ts";
import { createRowDecoder, type Select } from "../row-decoder.ts";
import { withTimeout } from "../timeout.ts";
import {
  DEADLINE_REASON,
  isDeadline,
  isLostConnection,
  isReadOnly,
  toDomainError,
  unavailable,
} from "./errors.ts";
import { ConnectionPool, type ConnectionPoolOptions } from "./pool.ts";

/** Minimum time between two replacements of the connections because of a read-only server. */
const READ_ONLY_PAUSE_MS = 1_000;

/** Runs a query and returns each row as an array of values. */
type Query = (text: string, values: unknown[]) => Promise<unknown[][]>;

/**
 * The cast is safe: Drizzle's session calls only `unsafe` and `values`, except in Drizzle's own method `transaction`. Only
 * migrations call that method, and they do not use this function.
 */
function createOrm(query: Query): BunSQLDatabase {
  const unsafe = (text: string, values: unknown[]) => {
    const rows = query(text, values);
    return Object.assign(rows, { values: () => rows });
  };
  return drizzle({ client: { unsafe } as unknown as SQL });
}

/** The repositories select without side effects: no function that writes, and no lock. */
const READ = /^select /;

/** Settles like the query, or rejects with `DatabaseUnavailable` at the deadline and discards a later result. */
export const withDeadline = <T>(query: Promise<T>, deadlineMs: number): Promise<T> =>
  withTimeout(query, deadlineMs, () => unavailable(DEADLINE_REASON));

export function openClient(options: ConnectionPoolOptions): RepositoryClient & { close(): Promise<void> } {
  const pool = new ConnectionPool(options);
  let replacedAt = Number.NEGATIVE_INFINITY;

  /** Concurrent queries of one generation replace the connections once. */
  const replace = (generation: number) => {
    if (generation !== pool.generation) return;
    pool.replace();
    replacedAt = performance.now();
  };

  const attempt: Attempt = async (query) => {
    const { generation } = pool;
    try {
      // Without a deadline, a query to a frozen or unreachable server would never end.
      return await withDeadline(query(), options.deadlineMs);
    } catch (error) {
      const domainError = toDomainError(error);
      if (isDeadline(domainError)) replace(generation);
      // After a failover, open connections still lead to the old server, but the host name can already lead to the new
      // server. New connections are therefore needed.
      if (isReadOnly(domainError) && performance.now() - replacedAt > READ_ONLY_PAUSE_MS) replace(generation);
      throw domainError;
    }
  };

  const run = <Result>(query: PromiseLike<Result>) => attempt(async () => query);

  const runOnce = (isRead: boolean, text: string, values: unknown[]): Promise<unknown[][]> =>
    pool.run(isRead, (client) => client.unsafe(text, values).values());

  /** A write is not repeated, because it is unknown whether it was committed. */
  const query: Query = async (text, values) => {
    const isRead = READ.test(text);
    try {
      return await runOnce(isRead, text, values);
    } catch (error) {
      if (!isRead || !isLostConnection(toDomainError(error))) throw error;
      return runOnce(isRead, text, values);
    }
  };

  return {
    orm: createOrm(query),
    attempt,
    run,
    attemptAll: async (...queries) => {
      for (const query of queries) await run(query);
    },
    transact: (queries) =>
      attempt(() =>
        pool.run(false, (client) =>
          client.begin("isolation level read committed", (transaction) =>
            queries(createOrm((text, values) => transaction.unsafe(text, values).values())),
          ),
        ),
      ),
    prepare: <Row>(select: Select<Row>) => {
      const { sql, params } = select.toSQL();
      const decode = createRowDecoder<Row>(select._.selectedFields);
      return async (values) => {
        const rows = await attempt(() => query(sql, fillPlaceholders(params, values)));
        return rows.map(decode);
      };
    },
    close: () => pool.close(),
  };
}
