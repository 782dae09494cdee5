/**
 * Backs up the file of an embedded database while the service uses the file. Replaces the file only while no process has it
 * open.
 */
import { open, rename, rm } from "node:fs/promises";
import type Database from "libsql";
import { DatabaseUnavailable, InvalidBackup } from "../errors.ts";
import { type Connection, connect } from "./connection.ts";
import { isLockConflict, toDomainError } from "./errors.ts";

/** How long a backup waits while another process recovers the file. */
const TIMEOUT_SECONDS = 10;

const isDamaged = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && /^SQLITE_(CORRUPT|NOTADB)/.test(error.reason);

/** Opens a connection for `use`, then closes the connection. @throws DatabaseUnavailable */
export async function connected<T>(
  path: string,
  timeoutSeconds: number,
  use: (connection: Connection) => T | Promise<T>,
): Promise<T> {
  let connection: Connection | null = null;
  try {
    connection = connect(path, timeoutSeconds * 1000);
    return await use(connection);
  } catch (error) {
    throw toDomainError(error);
  } finally {
    connection?.database.close();
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path, "r+");
  await file.sync();
}

/**
 * Writes a consistent snapshot to a new file that only the owner can read. Readers and writers do not wait for the backup.
 * @throws DatabaseUnavailable
 */
export async function backUpFile(path: string, target: string): Promise<void> {
  await (await open(target, "wx", 0o600)).close();
  await connected(path, TIMEOUT_SECONDS, ({ database }) => database.prepare("VACUUM INTO ?").run(target));
  await sync(target);
}

/**
 * Moves `source` to `path`, which must be in the same folder. `prepare` runs after all checks, immediately before the move.
 * @throws InvalidBackup
 * @throws DatabaseUnavailable if a process has the file at `path` open
 */
export async function restoreFile(path: string, source: string, prepare: () => Promise<void>): Promise<void> {
  await checkBackup(source);
  await sync(source);
  const replace = async () => {
    await prepare();
    // These files must be deleted first: SQLite would apply the write-ahead log of the replaced file to the new file.
    for (const suffix of ["-wal", "-shm", "-journal"]) await rm(path + suffix, { force: true });
    await rename(source, path);
  };
  // A damaged file cannot be locked, so it is replaced without a lock.
  await connected(path, 0, async ({ database }) => {
    lock(database);
    await replace();
  }).catch((error: unknown) => (isDamaged(error) ? replace() : Promise.reject(error)));
}

/**
 * Fails if another connection is open. Each connection to a file with a write-ahead log holds a shared lock, which prevents a
 * change of the journal mode.
 */
export function lock(database: Database.Database): void {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    if (!isLockConflict(error)) throw error;
    throw new DatabaseUnavailable("SQLITE_BUSY", "a process has the file open; stop the service");
  }
}

async function checkBackup(path: string): Promise<void> {
  await connected(path, 0, ({ database }) => {
    // A plain copy of a file that was in use has the mode WAL. In that mode, the checks would leave further files beside the
    // copy.
    database.exec("PRAGMA journal_mode = DELETE");
    const rows = database.prepare("PRAGMA integrity_check(1)").raw().all();
    if (String(rows) !== "ok") throw new InvalidBackup("is damaged");
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").all();
    if (tables.length === 0) throw new InvalidBackup("is not a database of this service");
  }).catch((error: unknown) => {
    throw isDamaged(error) ? new InvalidBackup("is damaged, or not a database") : error;
  });
}
