/** The PostgreSQL tables, and the SQL expressions that libsql has in a different form. */
import { type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { createTables } from "../tables.ts";
import * as columns from "./columns.ts";

export const tables = createTables(columns);
export const { users, todos, userNetworks, passkeys, identities, outbox, deletedImports, digestKeys } =
  tables;
export const { now, binary } = columns;

/** Ends a query: the selected rows must not change before the transaction ends. */
export const forShare = sql`for share`;

/** The time this many seconds from now. A negative number means a time in the past. */
export const later = (seconds: number) => sql`now() + make_interval(secs => ${seconds}::float8)`;

/** Ends a query: locks the selected rows, and skips rows that another transaction has locked. */
export const skipLocked = sql`for update skip locked`;

/** Waits until no other transaction has locked this text. Then locks the text until the current transaction ends. */
export const lockText = (text: string) =>
  sql<unknown>`pg_advisory_xact_lock(hashtextextended(${text}::text, 0))::text`;

/**
 * Follows a column: whether the value is an element of the JSON array. Unlike a subquery after `in`, this expression uses an
 * index. The parameter has the type `text`, because the client would encode a parameter of the type `json` again.
 */
export const isElementOf = (json: Placeholder) =>
  sql`= any (array(select json_array_elements_text(${json}::text::json)))`;

/** Follows a column: whether a subquery returns the value. Runs the subquery first: the planner underestimates its rows. */
export const isReturnedBy = (subquery: SQL) => sql`= any (array(${subquery}))`;

/**
 * The highest user id that was ever used, including the ids of deleted users. While `is_called` is false, `last_value` has
 * not been used yet.
 */
export const lastId = sql<
  number | string
>`(select last_value - (not is_called)::int from public.users_id_seq)`;

/**
 * Never lowers `lastId`. The lock waits for transactions that have taken an id, and prevents other transactions from taking
 * an id.
 */
export const raiseLastId = (id: number) => [
  sql`lock table public.users in share row exclusive mode`,
  sql`select setval('public.users_id_seq', ${id}::bigint) where ${lastId} < ${id}::bigint`,
];

/** A random integer from 1 to `max`. */
export const randomTo = (max: number) => sql`(1 + floor(random() * ${sql.raw(`${max}`)}))::int`;

/**
 * `jsonMembers` is a table with the columns `key` and `value`, one row for each member of a JSON object. `jsonObject` is the
 * function that makes a JSON object of such rows.
 */
export const jsonMembers = (json: SQLWrapper) => sql`json_each_text(${json}::json)`;
export const jsonObject = sql`json_object_agg`;
