/**
 * Applies the generated migrations. Reading the current version and migrating are one transaction under the write lock, so
 * of several processes that start on an empty file only one migrates.
 */
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { SchemaTooNew } from "../errors.ts";
import { openClient } from "./client.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

/** Long enough for another process to finish a migration that rewrites a large table. */
const BUSY_TIMEOUT_MS = 60_000;

/**
 * @throws SchemaTooNew
 * @throws DatabaseUnavailable
 */
export async function migrate(path: string): Promise<void> {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER });
  const { writer, close } = await openClient(path, BUSY_TIMEOUT_MS);
  try {
    await writer.attempt(() =>
      writer.orm.transaction(async (transaction) => {
        // The same table as in Drizzle's own migrator.
        await transaction.run(sql`
          create table if not exists __drizzle_migrations
          (id integer primary key, hash text not null, created_at numeric not null)`);
        const [row] = await transaction.values<[number | null]>(
          sql`select max(created_at) from __drizzle_migrations`,
        );
        const lastApplied = row?.[0] ?? 0;
        if (lastApplied > (migrations.at(-1)?.folderMillis ?? 0)) throw new SchemaTooNew();
        for (const migration of migrations.filter(({ folderMillis }) => folderMillis > lastApplied)) {
          for (const statement of migration.sql) await transaction.run(sql.raw(statement));
          await transaction.run(
            sql`insert into __drizzle_migrations (hash, created_at) values (${migration.hash}, ${migration.folderMillis})`,
          );
        }
      }),
    );
  } finally {
    close();
  }
}
