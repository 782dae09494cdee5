/** The migrations of this release and one more, as a later release would have them. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { parsePostgresUrl } from "@latchkey/contracts";
import { addMigration } from "@latchkey/testing/extra-migration";
import { openFolder } from "@latchkey/testing/folder";
import { migrate as migrateLibsql } from "../../src/libsql/migrate.ts";
import { migrate as migratePostgres } from "../../src/postgres/migrate.ts";

/** What a compatible migration can do: both databases accept these statements. */
export const EXPAND = [
  `alter table users add column extra integer not null default 0`,
  `create table extras (user_id bigint not null references users (id) on delete cascade, digest text not null)`,
  `create index extras_user_id on extras (user_id)`,
];

interface ExtraMigration {
  /** Written into the migration; null: no release is. */
  readonly oldestRelease: string | null;
  /** @default EXPAND */
  readonly statements?: readonly string[];
}

/** Creates a folder with all migrations; disposing it removes it. */
export async function openMigrationsFolder(
  dialect: "libsql" | "postgres",
  { oldestRelease, statements = EXPAND }: ExtraMigration,
) {
  const folder = await openFolder();
  await cp(join(import.meta.dir, "../../src", dialect, "migrations"), folder.path, { recursive: true });
  const comment = oldestRelease === null ? "" : `-- Oldest compatible release: ${oldestRelease}\n`;
  await addMigration(folder.path, comment + statements.join(";\n--> statement-breakpoint\n"));
  return folder;
}

/** Migrates a database with one more migration. */
export async function migrateWithExtra(url: string, extra: ExtraMigration): Promise<void> {
  const isFile = url.startsWith("file:");
  await using folder = await openMigrationsFolder(isFile ? "libsql" : "postgres", extra);
  const migrationsFolder = folder.path;
  if (isFile) await migrateLibsql({ path: url.slice("file:".length), migrationsFolder });
  else await migratePostgres({ address: parsePostgresUrl(url), migrationsFolder });
}
