/** The libsql tables, and the expressions that differ from those of PostgreSQL, which describes them. */
import { type Placeholder, type SQLWrapper, sql } from "drizzle-orm";
import { createTables, toColumns } from "../tables.ts";
import * as sqliteColumns from "./columns.ts";

export const columns = toColumns(sqliteColumns);
export const tables = createTables(columns);
export const { users, todos, userNetworks, passkeys, outbox, deletedImports } = tables;
export const { now } = columns;

/** The time in this many seconds; a negative number is in the past. */
export const later = (seconds: number) =>
  sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${seconds} seconds`}))`;

/** Empty, because a writing transaction locks the file. */
export const forShare = sql``;
export const skipLocked = sql``;
export const lockText = (_: string) => sql<unknown>`null`;

/** Follows a column: whether its value is an element of the JSON array. */
export const isElementOf = (json: Placeholder) => sql`in (select value from json_each(${json}))`;

export const lastId = sql<
  number | string
>`coalesce((select seq from sqlite_sequence where name = 'users'), 0)`;

export const raiseLastId = (id: number) => [
  sql`insert into sqlite_sequence select 'users', 0 where not exists (select 1 from sqlite_sequence where name = 'users')`,
  sql`update sqlite_sequence set seq = max(seq, ${id}) where name = 'users'`,
];

/** The members of a JSON object, as the columns `key` and `value` of a table; and the function that makes an object of them. */
export const jsonMembers = (json: SQLWrapper) => sql`json_each(${json})`;
export const jsonObject = sql`json_group_object`;
