/** The SQL expressions of libsql. A writing transaction locks the whole file, so the expressions that lock rows are empty. */
import { sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { columns, tables } from "./schema.ts";

export const dialect: Dialect = {
  tables,
  now: columns.now,
  clock: columns.now,
  later: (seconds) => sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${seconds} seconds`}))`,
  secondsUntil: (time) => sql`((julianday(${time}) - julianday('now')) * 86400.0)`,
  binary: columns.binary,
  forShare: sql``,
  forUpdate: sql``,
  skipLocked: sql``,
  lockText: () => sql`null`,
  isElementOf: (json) => sql`in (select value from json_each(${json}))`,
  isReturnedBy: (subquery) => sql`in (${subquery})`,
  lastId: sql`coalesce((select seq from sqlite_sequence where name = 'users'), 0)`,
  raiseLastId: (id) => [
    sql`insert into sqlite_sequence select 'users', 0 where not exists (select 1 from sqlite_sequence where name = 'users')`,
    sql`update sqlite_sequence set seq = max(seq, ${id}) where name = 'users'`,
  ],
  lockUsers: [],
  randomTo: (max) => sql`(1 + abs(random() % ${sql.raw(`${max}`)}))`,
  jsonMembers: (json) => sql`json_each(${json})`,
  jsonObject: sql`json_group_object`,
  jsonElements: (json) => sql`json_each(${json})`,
  jsonArray: sql`json_group_array(value)`,
  migrationRecords: sql`__latchkey_migrations`,
};
