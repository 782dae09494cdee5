/** Backs up the file of an embedded database while the service uses the file. */
import { open } from "node:fs/promises";
import type Database from "libsql";
import { DatabaseUnavailable } from "../errors.ts";
import { type Connection, connect } from "./connection.ts";
import { isLockConflict, toDomainError } from "./errors.ts";

/** How long a backup waits while another process recovers the file. */
const TIMEOUT_SECONDS = 10;

export const isDamaged = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && /^SQLITE_(CORRUPT|NOTADB)/.test(error.reason);

/** Opens a connection for `use`, then moves the write-ahead log into the file. @throws DatabaseUnavailable */
export async function connected<T>(
  path: string,
  timeoutSeconds: number,
  use: (connection: Connection) => T | Promise<T>,
): Promise<T> {
  let connection: Connection | null = null;
  try {
    connection = connect(path, timeoutSeconds * 1000);
    const result = await use(connection);
    connection.checkpoint();
    return result;
  } catch (error) {
    throw toDomainError(error);
  } finally {
    connection?.close();
  }
}

export async function sync(path: string): Promise<void> {
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

/** Fails if another connection is open: its shared lock prevents the change of the journal mode. */
export function lock(database: Database.Database): void {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    if (!isLockConflict(error)) throw error;
    throw new DatabaseUnavailable("SQLITE_BUSY", "a process has the file open; stop the service");
  }
}
