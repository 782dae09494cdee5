/**
 * Applies the generated migrations. One transaction holds the write lock, reads the migration history and applies the missing
 * migrations. Therefore, if several processes start on an empty file, only one process applies the migrations.
 */
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { assertCompatible, type MigrationRecord, parseOldestRelease } from "../compatibility.ts";
import type { SchemaState } from "../database.ts";
import type { Orm } from "../dialect.ts";
import { toMigrationError } from "../errors.ts";
import { openClient } from "./client.ts";
import { CREATE_TRIGGERS, DROP_TRIGGERS } from "./triggers.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

/** Long enough for another process to finish a migration that rewrites a large table. */
const BUSY_TIMEOUT_MS = 60_000;

/** Returns the time of each applied migration: when the migration was generated, not when it was applied. */
const readHistory = async (orm: Orm): Promise<number[]> => {
  const rows = await orm.select({ createdAt: sql<number>`created_at` }).from(sql`__drizzle_migrations`);
  return rows.map(({ createdAt }) => createdAt);
};

async function hasTable(orm: Orm, table: string): Promise<boolean> {
  const found = sql`sqlite_schema where type = 'table' and name = ${table}`;
  return (await orm.select({ name: sql`name` }).from(found)).length > 0;
}

/** Whether the database has exactly the schema of this release. */
export async function hasCurrentSchema(orm: Orm): Promise<boolean> {
  const latest = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER }).at(-1)?.folderMillis;
  return (await hasTable(orm, "__drizzle_migrations")) && Math.max(...(await readHistory(orm))) === latest;
}

/** Must run in a transaction that holds the write lock. @throws SchemaTooNew */
export async function applyMigrations(orm: Orm, migrationsFolder = MIGRATIONS_FOLDER): Promise<SchemaState> {
  const migrations = readMigrationFiles({ migrationsFolder });
  // `__drizzle_migrations` has the columns of Drizzle's own migrator. These columns do not change, because earlier releases use
  // the table. `__latchkey_migrations` contains each migration's oldest compatible release.
  await orm.execute(sql`
      create table if not exists __drizzle_migrations
      (id integer primary key, hash text not null, created_at numeric not null)`);
  await orm.execute(sql`
      create table if not exists __latchkey_migrations
      (created_at integer primary key, oldest_release text)`);
  const applied = await readHistory(orm);
  const records: MigrationRecord[] = await orm
    .select({ createdAt: sql<number>`created_at`, oldestRelease: sql<string | null>`oldest_release` })
    .from(sql`__latchkey_migrations`);
  const latestKnown = migrations.at(-1)?.folderMillis ?? 0;
  const unknown = applied.filter((createdAt) => createdAt > latestKnown);
  assertCompatible(unknown, records);
  const lastApplied = Math.max(0, ...applied);
  const missing = migrations.filter(({ folderMillis }) => folderMillis > lastApplied);
  // A table cannot be replaced while a trigger writes to it, and a replaced one has lost its triggers.
  if (missing.length > 0) for (const statement of DROP_TRIGGERS) await orm.execute(sql.raw(statement));
  for (const { folderMillis, hash, sql: statements } of missing) {
    for (const statement of statements) await orm.execute(sql.raw(statement));
    await orm.execute(
      sql`insert into __drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`,
    );
    await orm.execute(sql`
        insert into __latchkey_migrations (created_at, oldest_release)
        values (${folderMillis}, ${parseOldestRelease(statements)})`);
  }
  if (missing.length > 0 && (await hasTable(orm, "events_state")))
    for (const statement of CREATE_TRIGGERS) await orm.execute(sql.raw(statement));
  return unknown.length > 0 ? "newer" : "current";
}

/**
 * @param migrationsFolder @default the migrations of this release
 * @throws SchemaTooNew, MigrationRejected, DatabaseUnavailable
 */
export async function migrate(path: string, migrationsFolder?: string): Promise<SchemaState> {
  const { transact, close } = await openClient(path, BUSY_TIMEOUT_MS);
  try {
    return await transact((orm) => applyMigrations(orm, migrationsFolder));
  } catch (error) {
    throw toMigrationError(error);
  } finally {
    close();
  }
}
