/**
 * Applies the generated migrations. Reading the current version and migrating are one transaction under the write lock, so
 * of several processes that start on an empty file only one migrates.
 */
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { assertCompatible, type MigrationRecord, parseOldestRelease } from "../compatibility.ts";
import { toMigrationError } from "../errors.ts";
import type { SchemaState } from "../repositories.ts";
import { openClient } from "./client.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

/** Long enough for another process to finish a migration that rewrites a large table. */
const BUSY_TIMEOUT_MS = 60_000;

/**
 * @param options `migrationsFolder`: @default the migrations of this release
 * @throws SchemaTooNew
 * @throws MigrationRejected
 * @throws DatabaseUnavailable
 */
export async function migrate({
  path,
  migrationsFolder = MIGRATIONS_FOLDER,
}: {
  path: string;
  migrationsFolder?: string;
}): Promise<SchemaState> {
  const migrations = readMigrationFiles({ migrationsFolder });
  const { writer, close } = await openClient(path, BUSY_TIMEOUT_MS);
  const { orm, attempt } = writer;
  try {
    return await attempt(async () => {
      // The same table as in Drizzle's own migrator, and one beside it, so that earlier releases can start.
      await orm.run(sql`
          create table if not exists __drizzle_migrations
          (id integer primary key, hash text not null, created_at numeric not null)`);
      await orm.run(sql`
          create table if not exists __latchkey_migrations
          (created_at integer primary key, oldest_release text)`);
      const createdAt = sql<number>`created_at`;
      const history = await orm.select({ createdAt }).from(sql`__drizzle_migrations`);
      const records: MigrationRecord[] = await orm
        .select({ createdAt, oldestRelease: sql<string | null>`oldest_release` })
        .from(sql`__latchkey_migrations`);
      const applied = history.map(({ createdAt }) => createdAt);
      const latestKnown = migrations.at(-1)?.folderMillis ?? 0;
      const unknown = applied.filter((createdAt) => createdAt > latestKnown);
      assertCompatible(unknown, records);
      const lastApplied = Math.max(0, ...applied);
      for (const { folderMillis, hash, sql: statements } of migrations) {
        if (folderMillis <= lastApplied) continue;
        for (const statement of statements) await orm.run(sql.raw(statement));
        await orm.run(
          sql`insert into __drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`,
        );
        await orm.run(sql`
            insert into __latchkey_migrations (created_at, oldest_release)
            values (${folderMillis}, ${parseOldestRelease(statements)})`);
      }
      return unknown.length > 0 ? "newer" : "current";
    });
  } catch (error) {
    throw toMigrationError(error);
  } finally {
    close();
  }
}
