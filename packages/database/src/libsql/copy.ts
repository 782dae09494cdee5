/** The embedded database during a copy. No other process can open the file. Changes are committed only if `work` succeeds. */
import { sql } from "drizzle-orm";
import { type CopyRole, type CopySession, describeTables, expectSchema } from "../copy.ts";
import { singleRow } from "../row-decoder.ts";
import { connected, lock } from "./backup.ts";
import { createFile } from "./client.ts";
import { createOrm } from "./connection.ts";
import { toDomainError } from "./errors.ts";
import { applyMigrations, hasCurrentSchema } from "./migrate.ts";
import { compile } from "./reader.ts";
import { columns, tables } from "./schema.ts";

const TABLES = describeTables(tables, columns.getTableConfig);

/**
 * If `role` is `target`, creates the file and migrates it in the transaction of `work`.
 * @throws DatabaseUnavailable
 */
export async function withCopySession<T>(
  path: string,
  role: CopyRole,
  work: (session: CopySession) => Promise<T>,
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
      if (role === "target") await applyMigrations(orm);
      expectSchema(await hasCurrentSchema(orm), role);
      const result = await work({
        tables: TABLES,
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
      if (role === "target") database.exec("COMMIT");
      return result;
    } finally {
      if (database.inTransaction) database.exec("ROLLBACK");
    }
  });
}
