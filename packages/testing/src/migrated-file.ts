/** Files of embedded databases that have the current schema already: to copy one costs a tenth of the migrations. */
import { readFile, writeFile } from "node:fs/promises";
import { openFolder } from "./folder.ts";

/** A database that a test has opened. */
interface OpenDatabase extends AsyncDisposable {
  migrate(): Promise<unknown>;
}

let migrated: Promise<Uint8Array> | undefined;

async function migrateFile(open: (url: string) => Promise<OpenDatabase>): Promise<Uint8Array> {
  await using folder = await openFolder();
  {
    await using database = await open(folder.databaseUrl);
    await database.migrate();
  }
  return await readFile(new URL(folder.databaseUrl));
}

/**
 * Opens a new folder with a database that has the current schema. All databases of a process have the same key for digests.
 * @param open opens a database, once in each process
 */
export async function openMigratedFolder(open: (url: string) => Promise<OpenDatabase>) {
  migrated ??= migrateFile(open);
  const content = await migrated;
  const folder = await openFolder();
  // As the service creates it.
  await writeFile(new URL(folder.databaseUrl), content, { mode: 0o600 });
  return folder;
}
