/**
 * Replaces the file of an embedded database by a backup, only while no process has the file open. Invariant: after a crash, the
 * file is either the replaced one or the complete new one.
 */
import { rename, rm } from "node:fs/promises";
import { InvalidBackup } from "../errors.ts";
import {
  IDENTITY_TABLES,
  type LastIds,
  LOST_IDS,
  lastIdsOf,
  raisedBy,
  raiseIds,
} from "../maintenance/raise-ids.ts";
import { connected, isDamaged, lock, sync } from "./backup.ts";
import type { Connection } from "./connection.ts";
import { withExclusiveSession } from "./exclusive-session.ts";

export interface RestoreOptions {
  readonly withoutPasskeys: boolean;
  /** See `RaiseOptions`. @default false */
  readonly withoutFactors?: boolean;
  /** Runs after all checks, immediately before the move. */
  readonly prepare: () => Promise<void>;
}

/**
 * Migrates `source`, makes its ids and token versions differ from those of `path`, and moves it to `path`, which must be in the
 * same folder. Returns the ids above which new ids are.
 * @throws InvalidBackup
 * @throws IdsExhausted
 * @throws DatabaseUnavailable if a process has the file at `path` open
 */
export async function restoreFile(
  path: string,
  source: string,
  { withoutPasskeys, withoutFactors, prepare }: RestoreOptions,
): Promise<LastIds> {
  const backupKey = await checkBackup(source);
  const replace = async (replaced: ReplacedFile | null) => {
    const raise = (backup: LastIds) => lastIdsAfter(backup, backupKey, replaced);
    const lastIds = await withExclusiveSession(source, "database", (session) =>
      raiseIds(session, { raise, withoutPasskeys, withoutFactors }),
    );
    await sync(source);
    await prepare();
    // These files must be deleted first: SQLite would apply the write-ahead log of the replaced file to the new file.
    for (const suffix of ["-wal", "-shm", "-journal"]) await rm(path + suffix, { force: true });
    await rename(source, path);
    return lastIds;
  };
  // A damaged file cannot be locked, so it is replaced without a lock.
  return connected(path, 0, async (connection) => {
    lock(connection.database);
    return replace(readReplaced(connection));
  }).catch((error: unknown) => (isDamaged(error) ? replace(null) : Promise.reject(error)));
}

interface ReplacedFile extends LastIds {
  readonly key: string | null;
}

/**
 * A replaced file with lower ids than the backup, or without its key, can be another one than was backed up, for example that of a
 * new installation. Then the ids since the backup are unknown, as without a file.
 */
function lastIdsAfter(backup: LastIds, backupKey: string | null, replaced: ReplacedFile | null): LastIds {
  const isSame = replaced !== null && replaced.key !== null && replaced.key === backupKey;
  if (isSame && IDENTITY_TABLES.every((table) => replaced[table] >= backup[table])) return replaced;
  const raised = raisedBy(backup, LOST_IDS);
  return lastIdsOf((table) => Math.max(raised[table], replaced?.[table] ?? 0));
}

/** Every database has a random key from a migration, which backups and copies keep. Returns null before that migration. */
function readKey({ database }: Connection): string | null {
  try {
    const [[key] = []] = database
      .prepare("SELECT key FROM digest_keys WHERE name = 'log e-mails'")
      .raw()
      .all() as string[][];
    return key ?? null;
  } catch {
    return null;
  }
}

/** Returns null if the file is damaged, or not a database of this service. */
function readReplaced(connection: Connection): ReplacedFile | null {
  const { database } = connection;
  const lastIdOf = (table: keyof LastIds): number => {
    // An earlier release has created the file, without this table.
    const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").all(table).length > 0;
    if (!exists && table !== "users" && table !== "todos") return 0;
    const last = `max((SELECT coalesce(max(id), 0) FROM ${table}), coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = '${table}'), 0))`;
    const [[id] = []] = database.prepare(`SELECT ${last}`).raw().all() as number[][];
    return Number(id);
  };
  try {
    return { ...lastIdsOf(lastIdOf), key: readKey(connection) };
  } catch {
    return null;
  }
}

/** Returns the key of the backup. */
async function checkBackup(path: string): Promise<string | null> {
  return connected(path, 0, (connection) => {
    const { database } = connection;
    // A plain copy of a file that was in use has the mode WAL. In that mode, the checks would leave further files beside the
    // copy.
    database.exec("PRAGMA journal_mode = DELETE");
    const rows = database.prepare("PRAGMA integrity_check(1)").raw().all();
    if (String(rows) !== "ok") throw new InvalidBackup("is damaged");
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").all();
    if (tables.length === 0) throw new InvalidBackup("is not a database of this service");
    return readKey(connection);
  }).catch((error: unknown) => {
    throw isDamaged(error) ? new InvalidBackup("is damaged, or not a database") : error;
  });
}
