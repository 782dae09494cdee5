/** What differs between the queries of the two databases. Each implements `Dialect` in its folder. */
import type { Placeholder, SQL, SQLWrapper } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type { Tables } from "./tables.ts";

/** Drizzle's query builder. */
export type Orm = Pick<
  PgDatabase<PgQueryResultHKT>,
  "select" | "selectDistinct" | "insert" | "update" | "delete" | "execute"
>;

export interface Dialect {
  readonly tables: Tables;
  readonly now: SQL;
  /** The time of the statement. `now` is the time at which its transaction began, which can be earlier than what the statement reads. */
  readonly clock: SQL;
  /** The time this many seconds from now. A negative number means a time in the past. */
  later(seconds: number): SQL;
  /** The seconds from `clock` to a time, negative if the time is in the past. */
  secondsUntil(time: SQLWrapper): SQL<number | string>;
  /** Compares texts by their bytes. */
  binary(expression: SQLWrapper): SQL;
  /** Ends a query: the selected rows must not change before the transaction ends. */
  readonly forShare: SQL;
  /** Ends a query: locks the selected rows. */
  readonly forUpdate: SQL;
  /** Ends a query: locks the selected rows, and skips rows that another transaction has locked. */
  readonly skipLocked: SQL;
  /** Waits until no other transaction has locked this text. Then locks the text until the current transaction ends. */
  lockText(text: string): SQL;
  /** Follows a column: whether the value is an element of the JSON array. */
  isElementOf(json: Placeholder): SQL;
  /** Follows a column: whether a subquery returns the value. */
  isReturnedBy(subquery: SQL): SQL;
  /** The highest user id that was ever used, including the ids of deleted users, or 0 if no id was used. */
  readonly lastId: SQL<number | string>;
  /** Never lowers `lastId`. The statements must run in one transaction. */
  raiseLastId(id: number): readonly SQL[];
  /** Waits until all changes of users are committed, and prevents further ones until the transaction ends. */
  readonly lockUsers: readonly SQL[];
  /** A random integer from 1 to `max`. */
  randomTo(max: number): SQL;
  /** A table with the columns `key` and `value`, one row for each member of a JSON object. */
  jsonMembers(json: SQLWrapper): SQL;
  /** The function that makes a JSON object of such rows. */
  readonly jsonObject: SQL;
  /** A table with the column `value`, one row for each element of a JSON array of texts. */
  jsonElements(json: SQLWrapper): SQL;
  /** Makes the text of a JSON array of such rows. */
  readonly jsonArray: SQL;
  /** The table with the oldest compatible release of each migration. */
  readonly migrationRecords: SQL;
}

/**
 * Gives Drizzle's builders for SQLite the types of those for PostgreSQL. Drizzle has no type for both. The cast is safe: the
 * builders have the same methods, and their rows have the same types. The conformance suites run every query on both.
 */
export const withPostgresTypes = <Builders>(builders: Readonly<Record<keyof Builders, unknown>>): Builders =>
  builders as Builders;
