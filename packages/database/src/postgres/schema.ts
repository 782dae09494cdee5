/** The PostgreSQL tables, and the expressions that differ from those of libsql. */
import { type Placeholder, type SQLWrapper, sql } from "drizzle-orm";
import { createTables } from "../tables.ts";
import * as columns from "./columns.ts";

export const tables = createTables(columns);
export const { users, todos, userNetworks, passkeys, outbox, deletedImports } = tables;
export const { now } = columns;

/** Ends a query whose rows must not change before the end of its transaction. */
export const forShare = sql`for share`;

/** The time in this many seconds; a negative number is in the past. */
export const later = (seconds: number) => sql`now() + make_interval(secs => ${seconds}::float8)`;

/** Ends a query for a row that no other transaction is changing. */
export const skipLocked = sql`for update skip locked`;

/** Waits for other transactions that have locked the same text, and locks it until the end of its own. */
export const lockText = (text: string) =>
  sql<unknown>`pg_advisory_xact_lock(hashtextextended(${text}::text, 0))::text`;

/**
 * Follows a column: whether its value is an element of the JSON array. Unlike a subquery after `in`, it uses an index; and
 * the client would encode a text as JSON again if the parameter had that type.
 */
export const isElementOf = (json: Placeholder) =>
  sql`= any (array(select json_array_elements_text(${json}::text::json)))`;

/** The highest user id ever used, also if that user was deleted; after a restart, the sequence has the first id to use. */
export const lastId = sql<
  number | string
>`(select last_value - (not is_called)::int from public.users_id_seq)`;

/** Never lowers it: the lock waits for transactions that have taken an id, and prevents that others take one. */
export const raiseLastId = (id: number) => [
  sql`lock table public.users in share row exclusive mode`,
  sql`select setval('public.users_id_seq', ${id}::bigint) where ${lastId} < ${id}::bigint`,
];

/** The members of a JSON object, as the columns `key` and `value` of a table; and the function that makes an object of them. */
export const jsonMembers = (json: SQLWrapper) => sql`json_each_text(${json}::json)`;
export const jsonObject = sql`json_object_agg`;
