/** A migration that a later release would have. */
import { join } from "node:path";

/** Adds a migration with this SQL to a folder that Drizzle Kit has written. */
export async function addMigration(migrations: string, sql: string): Promise<void> {
  const journalFile = join(migrations, "meta/_journal.json");
  const journal: { readonly entries: readonly { readonly when: number }[] } =
    await Bun.file(journalFile).json();
  const when = (journal.entries.at(-1)?.when ?? 0) + 1;
  const entries = [...journal.entries, { when, tag: "9999_extra", breakpoints: true }];
  await Bun.write(journalFile, JSON.stringify({ ...journal, entries }));
  await Bun.write(join(migrations, "9999_extra.sql"), sql);
}
