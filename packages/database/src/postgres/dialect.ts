/** The SQL expressions of PostgreSQL. */
import { sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { binary, now } from "./columns.ts";
import { tables } from "./schema.ts";

/** While `is_called` is false, `last_value` has not been used yet. */
const lastId = sql<number | string>`(select last_value - (not is_called)::int from public.users_id_seq)`;

export const dialect: Dialect = {
  tables,
  now,
  clock: sql`clock_timestamp()`,
  later: (seconds) => sql`now() + make_interval(secs => ${seconds}::float8)`,
  secondsUntil: (time) => sql`extract(epoch from ${time} - clock_timestamp())::float8`,
  binary,
  forShare: sql`for share`,
  forUpdate: sql`for update`,
  skipLocked: sql`for update skip locked`,
  lockText: (text) => sql`pg_advisory_xact_lock(hashtextextended(${text}::text, 0))::text`,
  // Unlike a subquery after `in`, this expression uses an index. The parameter has the type `text`, because the client would
  // encode a parameter of the type `json` again.
  isElementOf: (json) => sql`= any (array(select json_array_elements_text(${json}::text::json)))`,
  // Runs the subquery first: the planner underestimates its rows.
  isReturnedBy: (subquery) => sql`= any (array(${subquery}))`,
  lastId,
  // The lock waits for transactions that have taken an id, and prevents other transactions from taking an id.
  raiseLastId: (id) => [
    sql`lock table public.users in share row exclusive mode`,
    sql`select setval('public.users_id_seq', ${id}::bigint) where ${lastId} < ${id}::bigint`,
  ],
  // While the lock waits, other writers wait behind it.
  lockUsers: [sql`set local lock_timeout = 2000`, sql`lock table public.users in share row exclusive mode`],
  randomTo: (max) => sql`(1 + floor(random() * ${sql.raw(`${max}`)}))::int`,
  jsonMembers: (json) => sql`json_each_text(${json}::json)`,
  jsonObject: sql`json_object_agg`,
  jsonElements: (json) => sql`json_array_elements_text(${json}::json)`,
  jsonArray: sql`coalesce(json_agg(value)::text, '[]')`,
  migrationRecords: sql`public.__latchkey_migrations`,
};
