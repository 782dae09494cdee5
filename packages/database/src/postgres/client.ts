/**
 * The deadline of each query. Invariant: apart from stalls of the event loop, a caller never waits longer than the deadline, and
 * after a query exceeds it, later queries use a new pool.
 */
import type { SQL } from "bun";
import { fillPlaceholders } from "drizzle-orm";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import type { Attempt } from "../errors.ts";
import type { RepositoryClient } from "../repository-client.ts";
import { createRowDecoder, type Select } from "../row-decoder.ts";
import { withTimeout } from "../timeout.ts";
import { DEADLINE_REASON, isDeadline, isReadOnly, toDomainError, unavailable } from "./errors.ts";
import { ConnectionPool, type ConnectionPoolOptions } from "./pool.ts";

/** Minimum time between two pool replacements because of a read-only server. */
const READ_ONLY_PAUSE_MS = 1_000;

/** Runs a query and returns its rows as arrays of values. */
type Query = (text: string, values: unknown[]) => Promise<unknown[][]>;

/** The cast is safe because Drizzle's session calls only `unsafe` and `values`, except in its own transactions, which only migrations use. */
function createOrm(query: Query): BunSQLDatabase {
  const unsafe = (text: string, values: unknown[]) => {
    const rows = query(text, values);
    return Object.assign(rows, { values: () => rows });
  };
  return drizzle({ client: { unsafe } as unknown as SQL });
}

/** Settles like the query, or rejects with `DatabaseUnavailable` at the deadline; a later result is discarded. */
export const withDeadline = <T>(query: Promise<T>, deadlineMs: number): Promise<T> =>
  withTimeout(query, deadlineMs, () => unavailable(DEADLINE_REASON));

export function openClient(options: ConnectionPoolOptions): RepositoryClient & { close(): Promise<void> } {
  let pool = new ConnectionPool(options);
  let replacedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  /** Queries that still run in the old pool can finish until the deadline. */
  const replace = (old: ConnectionPool) => {
    if (old !== pool || closed) return;
    pool = new ConnectionPool(options);
    replacedAt = performance.now();
    old.close().catch(() => undefined);
  };

  const attempt: Attempt = async (query) => {
    const used = pool;
    try {
      // Without a deadline, a query to a frozen or unreachable server would never end.
      return await withDeadline(query(), options.deadlineMs);
    } catch (error) {
      const domainError = toDomainError(error);
      if (isDeadline(domainError)) replace(used);
      // After a failover, connections lead to the old server while its name can already lead to the new one: reconnect.
      if (isReadOnly(domainError) && performance.now() - replacedAt > READ_ONLY_PAUSE_MS) replace(used);
      throw domainError;
    }
  };

  const run = <Result>(query: PromiseLike<Result>) => attempt(async () => query);

  const query: Query = (text, values) => pool.run((client) => client.unsafe(text, values).values());

  return {
    orm: createOrm(query),
    attempt,
    run,
    attemptAll: async (...queries) => {
      for (const query of queries) await run(query);
    },
    transact: (queries) =>
      attempt(() =>
        pool.run((client) =>
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
    close: async () => {
      closed = true;
      await pool.close();
    },
  };
}
