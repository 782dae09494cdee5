/**
 * Applies the generated migrations. The look at what is there and the change of it are one transaction under the write lock,
 * so of several processes starting on an empty file one migrates and the others find it done.
 */

import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { SchemaTooNew } from "../errors.ts";
import { openClient } from "./client.ts";

const migrationsFolder = fileURLToPath(new URL("./migrations", import.meta.url));

/** Long enough for another process to finish a migration that rewrites a large table. */
const patienceMs = 60_000;

/**
 * @throws SchemaTooNew
 * @throws DatabaseUnavailable
 */
export async function migrate(path: string): Promise<void> {
  const migrations = readMigrationFiles({ migrationsFolder });
  const { writer, close } = await openClient(path, patienceMs);
  try {
    await writer.attempt(() =>
      writer.orm.transaction(async (transaction) => {
        // The table is the one of Drizzle's own migrator.
        await transaction.run(sql`
          create table if not exists __drizzle_migrations
          (id integer primary key, hash text not null, created_at numeric not null)`);
        const [applied] = await transaction.values<[number | null]>(
          sql`select max(created_at) from __drizzle_migrations`,
        );
        const reached = applied?.[0] ?? 0;
        if (reached > (migrations.at(-1)?.folderMillis ?? 0)) throw new SchemaTooNew();
        for (const migration of migrations.filter(({ folderMillis }) => folderMillis > reached)) {
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
