/** What the repositories need from a connection to a database. */
import { type Placeholder, sql } from "drizzle-orm";
import type { Orm } from "../dialect.ts";
import type { Attempt } from "../errors.ts";
import type { Select } from "../row-decoder.ts";

/** Selects the first `limit` rows with an id greater than `after`, in ascending order of id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

export interface RepositoryClient {
  /** Run queries of `orm` only through the functions below. */
  readonly orm: Orm;
  readonly attempt: Attempt;
  /** Attempts one query of `orm`. Drizzle runs the query when it is awaited. */
  run<Result>(query: PromiseLike<Result>): Promise<Result>;
  /** Attempts the queries in order: in PostgreSQL each with its own deadline, in libsql in one transaction. */
  attemptAll(...queries: readonly PromiseLike<unknown>[]): Promise<void>;
  /** Attempts the queries in one transaction with one deadline. The queries must use `transaction`. */
  transact<T>(queries: (transaction: Orm) => Promise<T>): Promise<T>;
  /** Builds the query once. Returns a function that runs the query with the values of the placeholders. */
  prepare<Row>(query: Select<Row>): (values: Record<string, unknown>) => Promise<Row[]>;
}

/** The placeholders of a prepared query. The cast is safe because each name gets a placeholder. */
export const placeholders = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as {
    [Key in Name]: Placeholder<Key>;
  };
