/** The migrations of this release and one more, as a later release would have them, or only the first of them. */
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

type Dialect = "libsql" | "postgres";

async function copyMigrations(dialect: Dialect) {
  const folder = await openFolder();
  await cp(join(import.meta.dir, "../../src", dialect, "migrations"), folder.path, { recursive: true });
  return folder;
}

/** Creates a folder with all migrations; disposing it removes it. */
export async function openMigrationsFolder(
  dialect: Dialect,
  { oldestRelease, statements = EXPAND }: ExtraMigration,
) {
  const folder = await copyMigrations(dialect);
  const comment = oldestRelease === null ? "" : `-- Oldest compatible release: ${oldestRelease}\n`;
  await addMigration(folder.path, comment + statements.join(";\n--> statement-breakpoint\n"));
  return folder;
}

const dialectOf = (url: string): Dialect => (url.startsWith("file:") ? "libsql" : "postgres");

async function migrateWith(url: string, migrationsFolder: string): Promise<void> {
  if (dialectOf(url) === "libsql") await migrateLibsql(url.slice("file:".length), migrationsFolder);
  else await migratePostgres({ address: parsePostgresUrl(url), migrationsFolder });
}

/** Migrates a database with one more migration. */
export async function migrateWithExtra(url: string, extra: ExtraMigration): Promise<void> {
  await using folder = await openMigrationsFolder(dialectOf(url), extra);
  await migrateWith(url, folder.path);
}

/** Migrates a database with the migrations before the one with this tag. */
export async function migrateBefore(url: string, tag: string): Promise<void> {
  await using folder = await copyMigrations(dialectOf(url));
  const file = join(folder.path, "meta/_journal.json");
  const journal: { readonly entries: readonly { readonly tag: string }[] } = await Bun.file(file).json();
  const entries = journal.entries.slice(
    0,
    journal.entries.findIndex((entry) => entry.tag === tag),
  );
  await Bun.write(file, JSON.stringify({ ...journal, entries }));
  await migrateWith(url, folder.path);
}
