/**
 * The libsql tables, and the SQL expressions that PostgreSQL has in a different form. `postgres/schema.ts` describes the
 * expressions.
 */
import { type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { createTables, toColumns } from "../tables.ts";
import * as sqliteColumns from "./columns.ts";

export const columns = toColumns(sqliteColumns);
export const tables = createTables(columns);
export const { users, todos, userNetworks, passkeys, identities, outbox, deletedImports, digestKeys } =
  tables;
export const { now, binary } = columns;

/** The time this many seconds from now. A negative number means a time in the past. */
export const later = (seconds: number) =>
  sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${seconds} seconds`}))`;

/** The next three expressions do nothing, because a writing transaction locks the whole file. */
export const forShare = sql``;
export const skipLocked = sql``;
export const lockText = (_: string) => sql<unknown>`null`;

/** Follows a column: whether the value is an element of the JSON array. */
export const isElementOf = (json: Placeholder) => sql`in (select value from json_each(${json}))`;

/** Follows a column: whether a subquery returns the value. */
export const isReturnedBy = (subquery: SQL) => sql`in (${subquery})`;

export const lastId = sql<
  number | string
>`coalesce((select seq from sqlite_sequence where name = 'users'), 0)`;

export const raiseLastId = (id: number) => [
  sql`insert into sqlite_sequence select 'users', 0 where not exists (select 1 from sqlite_sequence where name = 'users')`,
  sql`update sqlite_sequence set seq = max(seq, ${id}) where name = 'users'`,
];

export const randomTo = (max: number) => sql`(1 + abs(random() % ${sql.raw(`${max}`)}))`;

/**
 * `jsonMembers` is a table with the columns `key` and `value`, one row for each member of a JSON object. `jsonObject` is the
 * function that makes a JSON object of such rows.
 */
export const jsonMembers = (json: SQLWrapper) => sql`json_each(${json})`;
export const jsonObject = sql`json_group_object`;
