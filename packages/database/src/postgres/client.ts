/**
 * The connection pool and the deadline of each query. Invariant: a caller never waits longer than the deadline, and after
 * a query exceeds it, later queries use a new pool.
 */
import { SQL } from "bun";
import { fillPlaceholders } from "drizzle-orm";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import type { Attempt } from "../errors.ts";
import { createRowDecoder, type Select } from "../select.ts";
import { DEADLINE_REASON, isDeadline, isReadOnly, toDomainError, unavailable } from "./errors.ts";
import type { Address } from "./url.ts";

/** What the repositories need. `libsql/database.ts` provides the same, with Drizzle's query builders for SQLite. */
export interface RepositoryClient {
  /** Its queries run only within `attempt`. */
  readonly orm: BunSQLDatabase;
  readonly attempt: Attempt;
  /** Attempts the queries in order: each with its own deadline in PostgreSQL, together in one transaction in libsql. */
  attemptAll(...queries: readonly (() => Promise<unknown>)[]): Promise<void>;
  /** Builds the query once and returns the function that runs it with the values of its placeholders. */
  prepare<Row>(query: Select<Row>): (values: Record<string, unknown>) => Promise<Row[]>;
}

interface PostgresClient extends RepositoryClient {
  close(): Promise<void>;
}

interface PostgresClientOptions {
  readonly address: Address;
  /** Maximum number of connections. */
  readonly poolSize: number;
  /** In milliseconds. The server's statement timeout is shorter, so that a slow query does not replace the pool. */
  readonly deadlineMs: number;
}

/** The server's statement timeout as a fraction of the deadline. */
const STATEMENT_TIMEOUT_RATIO = 7 / 8;

/** Minimum time between two pool replacements because of a read-only server. */
const READ_ONLY_PAUSE_MS = 1_000;

const CONNECTION_TIMEOUT_MS = 3_000;

type ConnectOptions = Omit<PostgresClientOptions, "deadlineMs"> & { readonly statementTimeoutMs: number };

/** Creates a pool; the first query opens a connection. */
export function connect({ address, poolSize, statementTimeoutMs }: ConnectOptions): SQL {
  return new SQL({
    ...address,
    adapter: "postgres",
    max: poolSize,
    connectionTimeout: CONNECTION_TIMEOUT_MS / 1_000,
    connection: {
      application_name: "latchkey",
      statement_timeout: statementTimeoutMs,
    },
  });
}

/** The cast is safe because Drizzle's session calls only `unsafe` outside of transactions, which only migrations use. */
function createOrm(client: Pick<SQL, "unsafe">): BunSQLDatabase {
  return drizzle({ client: client as SQL });
}

/** Settles like the query, or rejects with `DatabaseUnavailable` at the deadline; a later result is discarded. */
export async function withDeadline<T>(query: Promise<T>, deadlineMs: number): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(unavailable(DEADLINE_REASON)), deadlineMs);
  try {
    return await Promise.race([query, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function openClient({ address, poolSize, deadlineMs }: PostgresClientOptions): PostgresClient {
  const open = () =>
    connect({ address, poolSize, statementTimeoutMs: Math.floor(deadlineMs * STATEMENT_TIMEOUT_RATIO) });
  let pool = open();
  let replacedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  /** Queries that still run in the old pool can finish until the deadline. */
  const replace = (old: SQL) => {
    if (old !== pool || closed) return;
    pool = open();
    replacedAt = performance.now();
    old.close({ timeout: deadlineMs / 1_000 }).catch(() => undefined);
  };

  const attempt: Attempt = async (query) => {
    const used = pool;
    try {
      // Without a deadline, a query to a frozen or unreachable server would never end.
      return await withDeadline(query(), deadlineMs);
    } catch (error) {
      const domainError = toDomainError(error);
      if (isDeadline(domainError)) replace(used);
      // After a failover, connections lead to the old server while its name can already lead to the new one: reconnect.
      if (isReadOnly(domainError) && performance.now() - replacedAt > READ_ONLY_PAUSE_MS) replace(used);
      throw domainError;
    }
  };

  return {
    orm: createOrm({ unsafe: (text, values) => pool.unsafe(text, values) }),
    attempt,
    attemptAll: async (...queries) => {
      for (const query of queries) await attempt(query);
    },
    prepare: <Row>(query: Select<Row>) => {
      const { sql, params } = query.toSQL();
      const decode = createRowDecoder<Row>(query._.selectedFields);
      return async (values) => {
        const rows: unknown[][] = await attempt(() =>
          pool.unsafe(sql, fillPlaceholders(params, values)).values(),
        );
        return rows.map(decode);
      };
    },
    close: async () => {
      closed = true;
      await pool.close({ timeout: deadlineMs / 1_000 });
    },
  };
}
