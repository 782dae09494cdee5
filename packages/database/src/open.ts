/** Selects the database by the scheme of its URL and loads only the selected driver. */
import { UnsupportedDatabaseUrl } from "./errors.ts";
import type * as Backup from "./libsql/backup.ts";
import { parseFileUrl } from "./libsql/url.ts";
import { parsePostgresUrl } from "./postgres/url.ts";
import type { Database, DatabaseOptions } from "./repositories.ts";

/**
 * Opens the database without touching its schema: call `migrate()` before the repositories.
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable if a file cannot be opened; a server is contacted by the first query
 */
export async function openDatabase({ baseDirectory, ...options }: DatabaseOptions): Promise<Database> {
  const { url } = options;
  switch (schemeOf(url)) {
    case "file:":
      return (await import("./libsql/database.ts")).openLibsqlDatabase({ url, baseDirectory });
    case "postgres:":
    case "postgresql:":
      return (await import("./postgres/database.ts")).openPostgresDatabase(options);
    default:
      throw new UnsupportedDatabaseUrl("it must start with file:, postgres:// or postgresql://.");
  }
}

/**
 * Returns the absolute path of an embedded database, null for a server. Opens nothing.
 * @throws UnsupportedDatabaseUrl for every URL that `openDatabase` rejects
 */
export function databaseFile({ url, baseDirectory }: DatabaseOptions): string | null {
  if (schemeOf(url) === "file:") return parseFileUrl(url, baseDirectory);
  parsePostgresUrl(url);
  return null;
}

/** See `libsql/backup.ts`. */
export const backUpFile: typeof Backup.backUpFile = async (...args) =>
  (await import("./libsql/backup.ts")).backUpFile(...args);

/** See `libsql/backup.ts`. */
export const restoreFile: typeof Backup.restoreFile = async (...args) =>
  (await import("./libsql/backup.ts")).restoreFile(...args);

const schemeOf = (url: string): string => url.slice(0, url.indexOf(":") + 1).toLowerCase();
