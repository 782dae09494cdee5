/** An embedded database that no other process can open. Changes are committed only if `work` succeeds. */
import { sql } from "drizzle-orm";
import {
  describeTables,
  type ExclusiveSession,
  expectSchema,
  type SessionRole,
} from "../maintenance/exclusive-session.ts";
import { singleRow } from "../row-decoder.ts";
import { connected, lock } from "./backup.ts";
import { createFile } from "./client.ts";
import { createOrm } from "./connection.ts";
import { dialect } from "./dialect.ts";
import { toDomainError } from "./errors.ts";
import { applyMigrations, hasCurrentSchema } from "./migrate.ts";
import { compile } from "./reader.ts";
import { columns } from "./schema.ts";

const TABLES = describeTables(dialect.tables, columns.getTableConfig);

/** Migrates in the transaction of `work`, unless `role` is `source`. Creates the file of a `target`. @throws DatabaseUnavailable */
export async function withExclusiveSession<T>(
  path: string,
  role: SessionRole,
  work: (session: ExclusiveSession) => Promise<T>,
): Promise<T> {
  if (role === "target") await createFile(path);
  return connected(path, 0, async (connection) => {
    const { database, prepare } = connection;
    // `lock` replaces the write-ahead log by a rollback journal. The journal stays small, because it contains only the old
    // content of changed pages.
    lock(database);
    // With `NORMAL`, the end of the transaction releases the lock and deletes the journal.
    database.exec("PRAGMA locking_mode = NORMAL");
    const orm = createOrm((text, parameters) => prepare(text).all(parameters));
    const lastId = sql<number>`coalesce(max(seq), 0)`;
    try {
      if (role !== "source") await applyMigrations(orm);
      expectSchema(await hasCurrentSchema(orm), role);
      const result = await work({
        tables: TABLES,
        dialect,
        orm,
        toDomainError,
        select: async (query) => compile(query)(connection),
        lastId: async ({ name }) =>
          singleRow(await orm.select({ lastId }).from(sql`sqlite_sequence where name = ${name}`)).lastId,
        setLastId: async ({ name }, id) => {
          await orm.execute(sql`delete from sqlite_sequence where name = ${name}`);
          await orm.execute(
            sql`insert into sqlite_sequence (name, seq) select ${name}, ${id} where ${id} > 0`,
          );
        },
      });
      if (role !== "source") database.exec("COMMIT");
      return result;
    } finally {
      if (database.inTransaction) database.exec("ROLLBACK");
    }
  });
}
