/** Chooses the database by the scheme of its URL; only the chosen driver is ever loaded. */

import { UnsupportedDatabaseUrl } from "./errors.ts";
import type { Database } from "./repositories.ts";

export interface DatabaseOptions {
  /** `file:` with a relative or absolute path, `postgres://` or `postgresql://`. */
  readonly url: string;
  /** Connections held at most; a file has one whatever this says. @default 10 */
  readonly poolSize?: number;
}

/**
 * Opens the database without touching its schema: call `migrate()` before the repositories.
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable when a file cannot be opened; a server is first contacted by the first query
 */
export async function openDatabase({ url, ...options }: DatabaseOptions): Promise<Database> {
  const scheme = url.slice(0, url.indexOf(":") + 1).toLowerCase();
  switch (scheme) {
    case "file:":
      return (await import("./libsql/database.ts")).openLibsqlDatabase({ url });
    case "postgres:":
    case "postgresql:":
      return (await import("./postgres/database.ts")).openPostgresDatabase({ url, ...options });
    default:
      throw new UnsupportedDatabaseUrl("it must begin with file:, postgres:// or postgresql://.");
  }
}
