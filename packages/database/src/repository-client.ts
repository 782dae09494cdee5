/**
 * What the repositories need of a database. Its types are those of PostgreSQL; `libsql/database.ts` provides the same with
 * Drizzle's query builders for SQLite.
 */
import { type Placeholder, sql } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type { Attempt } from "./errors.ts";
import type * as schema from "./postgres/schema.ts";
import type { Select } from "./row-decoder.ts";

export type Tables = typeof schema;
export type Orm = Pick<
  PgDatabase<PgQueryResultHKT>,
  "select" | "selectDistinct" | "insert" | "update" | "delete" | "execute"
>;

/** Selects the first `limit` rows with an id greater than `after`, in ascending order of id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

export interface RepositoryClient {
  /** Its queries run only within the functions below. */
  readonly orm: Orm;
  readonly attempt: Attempt;
  /** Attempts one query of `orm`, which runs when it is awaited. */
  run<Result>(query: PromiseLike<Result>): Promise<Result>;
  /** Attempts the queries in order: each with its own deadline in PostgreSQL, together in one transaction in libsql. */
  attemptAll(...queries: readonly PromiseLike<unknown>[]): Promise<void>;
  /** Attempts the queries, which run over `transaction`, in one transaction with one deadline. */
  transact<T>(queries: (transaction: Orm) => Promise<T>): Promise<T>;
  /** Builds the query once and returns the function that runs it with the values of its placeholders. */
  prepare<Row>(query: Select<Row>): (values: Record<string, unknown>) => Promise<Row[]>;
}

/** The values of a prepared query. The cast is safe because each name has its placeholder. */
export const placeholders = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as {
    [Key in Name]: Placeholder<Key>;
  };
