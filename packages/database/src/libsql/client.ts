/**
 * The file and its two connections, a reader and a writer. Invariant: no statement of a connection stays unfinished after a
 * lock conflict. Until the garbage collector finishes such a statement, later statements of the connection do not commit, and
 * report no error.
 */
import { access, constants, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient } from "@libsql/client/sqlite3";
import { type Attempt, DatabaseUnavailable } from "../errors.ts";
import type { RepositoryClient } from "../repositories/repository-client.ts";
import { connect, createOrm } from "./connection.ts";
import { watchFile } from "./file-identity.ts";
import { openReader, type Reader } from "./reader.ts";
import { createRetry } from "./retry.ts";
import { createWriteQueue } from "./write-queue.ts";

/** Each call of `attempt` is one atomic write. `reader.attempt` only repeats a query after a lock conflict. */
interface LibsqlClient extends RepositoryClient {
  readonly reader: Pick<Reader, "prepare"> & { readonly attempt: Attempt };
  /** @throws DatabaseUnavailable if the file was deleted or replaced */
  expectSameFile(): void;
  /**
   * Moves the write-ahead log into the file. After the last process has closed the file, the file contains the whole database.
   * @throws DatabaseUnavailable if the log cannot be moved, for example because the disk is full; it is moved later
   */
  close(): void;
}

/** Creates the file and its parent folders, accessible only to the owner. Existing files and folders are not changed. */
export async function createFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // With the flag `wx`, an existing file is not opened: closing a second handle of the file would release the locks of this
    // process on the file.
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "SQLITE_CANTOPEN";
    if (code !== "EEXIST") throw new DatabaseUnavailable(code);
  }
}

/** Names the folder or the file if this user cannot write to it. SQLite fails even if only the folder is read-only. */
async function nameUnwritable(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof DatabaseUnavailable)) return error;
  for (const target of [dirname(path), path]) {
    const code = await access(target, constants.W_OK).then(
      () => "",
      (cause: NodeJS.ErrnoException) => cause.code ?? "",
    );
    if (code === "" || (code === "ENOENT" && target === path)) continue;
    return new DatabaseUnavailable(error.reason, `this user cannot create or write ${target}`);
  }
  return error;
}

/** The file stores this mode for all later connections. */
async function useWriteAheadLog(path: string): Promise<void> {
  const client = createClient({ url: pathToFileURL(path).href, concurrency: 1, timeout: 0 });
  try {
    await client.execute("PRAGMA journal_mode = WAL");
  } finally {
    client.close();
  }
}

/**
 * Each transaction takes the write lock with its first statement, `BEGIN IMMEDIATE`. This statement runs with `exec`, because
 * libsql finishes a statement after a lock conflict only if `exec` runs the statement.
 */
function openWriter(path: string, expectSameFile: () => void) {
  const { database, prepare, checkpoint, close: disconnect } = connect(path);
  const transact: Attempt = async (queries) => {
    if (!database.open) throw new DatabaseUnavailable("CLIENT_CLOSED");
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = await queries();
      expectSameFile();
      database.exec("COMMIT");
      return result;
    } finally {
      if (database.inTransaction) database.exec("ROLLBACK");
    }
  };
  const orm = createOrm((sql, parameters) => {
    if (!database.inTransaction) throw new Error("A write runs outside of the write queue");
    return prepare(sql).all(parameters);
  });
  const close = () => {
    if (!database.open) return;
    try {
      checkpoint();
    } finally {
      disconnect();
    }
  };
  return { orm, transact, close };
}

/**
 * @param busyTimeoutMs how long a query waits for a lock of another process, in milliseconds
 * @throws DatabaseUnavailable if the file cannot be created, opened or read
 */
export async function openClient(path: string, busyTimeoutMs: number): Promise<LibsqlClient> {
  const attempt = createRetry(busyTimeoutMs);
  try {
    await createFile(path);
    await attempt(() => useWriteAheadLog(path));
  } catch (error) {
    throw await nameUnwritable(error, path);
  }
  const file = watchFile(path);
  // The writer and the reader are opened in separate attempts: a retry for the reader must not open another writer.
  const writer = await attempt(async () => openWriter(path, file.check));
  const reader = await attempt(async () => openReader(path));
  const { orm } = writer;
  const write = createWriteQueue(busyTimeoutMs, writer.transact);
  const prepareRead: Reader["prepare"] = (query) => {
    const select = reader.prepare(query);
    return (values) => {
      file.checkRecently();
      return select(values);
    };
  };
  return {
    reader: { prepare: prepareRead, attempt },
    expectSameFile: file.check,
    orm,
    attempt: write,
    run: (query) => write(async () => query),
    attemptAll: (...queries) =>
      write(async () => {
        for (const query of queries) await query;
      }),
    transact: (queries) => write(() => queries(orm)),
    prepare: (query) => {
      const select = prepareRead(query);
      // Almost every read succeeds at once: only a retry pays for its deadline.
      return async (values) => {
        try {
          return select(values);
        } catch {
          return attempt(async () => select(values));
        }
      };
    },
    close: () => {
      reader.close();
      writer.close();
    },
  };
}
