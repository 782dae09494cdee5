/** Chooses the database by the scheme of its URL; only the chosen driver is ever loaded. */

import { UnsupportedDatabaseUrl } from "./errors.ts";
import { parseFileUrl } from "./libsql/url.ts";
import { parsePostgresUrl } from "./postgres/url.ts";
import type { Database } from "./repositories.ts";

export interface DatabaseOptions {
  /** `file:` with a relative or absolute path, `postgres://` or `postgresql://`. */
  readonly url: string;
  /** Where a relative `file:` starts. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** Connections held at most; a file has one whatever this says. @default 10 */
  readonly poolSize?: number | undefined;
}

/**
 * Opens the database without touching its schema: call `migrate()` before the repositories.
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable when a file cannot be opened; a server is first contacted by the first query
 */
export async function openDatabase({ url, baseDirectory, poolSize }: DatabaseOptions): Promise<Database> {
  switch (schemeOf(url)) {
    case "file:":
      return (await import("./libsql/database.ts")).openLibsqlDatabase({ url, baseDirectory });
    case "postgres:":
    case "postgresql:":
      return (await import("./postgres/database.ts")).openPostgresDatabase({ url, poolSize });
    default:
      throw new UnsupportedDatabaseUrl("it must begin with file:, postgres:// or postgresql://.");
  }
}

/**
 * The absolute path of an embedded database, null for a server; opens nothing.
 * @throws UnsupportedDatabaseUrl for any URL that `openDatabase` would refuse
 */
export function databaseFile({ url, baseDirectory }: DatabaseOptions): string | null {
  if (schemeOf(url) === "file:") return parseFileUrl(url, baseDirectory);
  parsePostgresUrl(url);
  return null;
}

const schemeOf = (url: string): string => url.slice(0, url.indexOf(":") + 1).toLowerCase();
