/** Opens the database at a URL and loads only the driver for that database. */
import { resolve } from "node:path";
import { parseDatabaseUrl } from "@latchkey/contracts";
import type { Database, DatabaseOptions } from "./database.ts";
import type * as Backup from "./libsql/backup.ts";
import type * as Restore from "./libsql/restore.ts";
import type { CopiedTable, OnCopyProgress } from "./maintenance/copy.ts";
import type { ExclusiveSession, SessionRole } from "./maintenance/exclusive-session.ts";
import type { LastIds, RaiseOptions } from "./maintenance/raise-ids.ts";

/**
 * Opens the database, but does not migrate the schema: call `migrate()` before you use the repositories.
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable if a file cannot be opened. A server is contacted only by the first query
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const path = databaseFile(options);
  return path === null
    ? (await import("./postgres/database.ts")).openPostgresDatabase(options)
    : (await import("./libsql/database.ts")).openLibsqlDatabase({ path });
}

/**
 * Returns the absolute path of an embedded database, or null for a server. Does not open the database.
 * @throws UnsupportedDatabaseUrl for every URL that `openDatabase` rejects
 */
export function databaseFile({ url, baseDirectory = "." }: DatabaseOptions): string | null {
  const location = parseDatabaseUrl(url);
  return "path" in location ? resolve(baseDirectory, location.path) : null;
}

/**
 * Copies all rows, or no rows, to an empty target. Migrates the target, and creates the target if it is a file.
 * @throws {CopyRejected | UnsupportedDatabaseUrl | DatabaseUnavailable | MigrationRejected}
 */
export async function copyDatabase(
  source: DatabaseOptions,
  target: DatabaseOptions,
  onProgress?: OnCopyProgress,
): Promise<CopiedTable[]> {
  const { copyTables } = await import("./maintenance/copy.ts");
  return withSession(source, "source", (from) =>
    withSession(target, "target", (to) => copyTables(from, to, onProgress)),
  );
}

/**
 * Raises the ids of new rows by `by` and, unless `keepsTokens`, revokes all tokens. Migrates the database. Refused while another
 * session uses the database. Returns the ids above which new ids are.
 * @throws {IdsExhausted | CopyRejected | UnsupportedDatabaseUrl | DatabaseUnavailable | MigrationRejected}
 */
export async function raiseDatabaseIds(
  options: DatabaseOptions,
  { by, withoutPasskeys, withoutFactors, keepsTokens }: { readonly by: number } & Omit<RaiseOptions, "raise">,
): Promise<LastIds> {
  const { raisedBy, raiseIds } = await import("./maintenance/raise-ids.ts");
  return withSession(options, "database", (session) =>
    raiseIds(session, {
      raise: (lastIds) => raisedBy(lastIds, by),
      withoutPasskeys,
      withoutFactors,
      keepsTokens,
    }),
  );
}

async function withSession<T>(
  options: DatabaseOptions,
  role: SessionRole,
  work: (session: ExclusiveSession) => Promise<T>,
) {
  const path = databaseFile(options);
  const { withExclusiveSession } = await (path === null
    ? import("./postgres/exclusive-session.ts")
    : import("./libsql/exclusive-session.ts"));
  return withExclusiveSession(path ?? options.url, role, work);
}

/** See `libsql/backup.ts`. */
export const backUpFile: typeof Backup.backUpFile = async (...args) =>
  (await import("./libsql/backup.ts")).backUpFile(...args);

/** See `libsql/restore.ts`. */
export const restoreFile: typeof Restore.restoreFile = async (...args) =>
  (await import("./libsql/restore.ts")).restoreFile(...args);
