/**
 * The file and its two connections, a reader and a writer. Invariant: no statement of a connection stays unfinished after
 * a lock conflict. libsql leaves it so until it is garbage collected, and until then no later statement of the connection
 * commits, without an error.
 */
import { access, constants, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Client,
  createClient,
  type InStatement,
  type ResultSet,
  type Transaction,
} from "@libsql/client";
import { drizzle, type LibSQLDatabase } from "drizzle-orm/libsql";
import { type Attempt, DatabaseUnavailable } from "../errors.ts";
import { openReader, type Reader } from "./reader.ts";
import { createRetry } from "./retry.ts";
import { createWriteQueue } from "./write-queue.ts";

export interface LibsqlClient {
  readonly reader: Pick<Reader, "prepare"> & { readonly attempt: Attempt };
  /** Each call of `attempt` is atomic; the queries of `orm` run only within it. */
  readonly writer: { readonly orm: LibSQLDatabase; readonly attempt: Attempt };
  close(): void;
}

/** The cast is safe because this package uses neither `batch`, `migrate` nor `transaction` of Drizzle. */
function createOrm(execute: (statement: InStatement) => Promise<ResultSet>): LibSQLDatabase {
  return drizzle({ execute } as Client);
}

/** Creates the file and its parent folders, accessible to their owner only; existing ones are not changed. */
async function createFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // "x" because closing a second handle of an open file would release this process's locks on it.
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "SQLITE_CANTOPEN";
    if (code !== "EEXIST") throw new DatabaseUnavailable(code);
  }
}

/** Names the folder or the file if this user cannot write it; a read-only folder can also be the reason of an SQLite error. */
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

/** Opens one connection that never waits for a lock. libsql's default is `synchronous = FULL`: each commit is synced. */
function connect(path: string): Client {
  return createClient({ url: pathToFileURL(path).href, concurrency: 1, timeout: 0 });
}

/** The mode is stored in the file; all later connections read it from there. */
async function useWriteAheadLog(path: string): Promise<void> {
  const client = connect(path);
  try {
    await client.execute("PRAGMA journal_mode = WAL");
  } finally {
    client.close();
  }
}

/** Takes the write lock in a script, because only then does libsql finish a statement that failed with a lock conflict. */
async function beginImmediate(client: Client): Promise<Transaction> {
  const transaction = await client.transaction("deferred");
  try {
    await transaction.executeMultiple("ROLLBACK; BEGIN IMMEDIATE");
    return transaction;
  } catch (error) {
    transaction.close();
    throw error;
  }
}

/** Each transaction holds the write lock from its first statement. */
function openWriter(path: string) {
  const client = connect(path);
  let transaction: Transaction | null = null;
  const transact: Attempt = async (queries) => {
    transaction = await beginImmediate(client);
    try {
      const result = await queries();
      await transaction.commit();
      return result;
    } finally {
      transaction.close();
      transaction = null;
    }
  };
  const orm = createOrm(async (statement) => {
    if (!transaction) throw new Error("A write runs outside of the write queue");
    return transaction.execute(statement);
  });
  return { orm, transact, close: () => client.close() };
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
  // One after the other, so that a lock conflict of the second leaves no connection of the first open.
  const writer = await attempt(async () => openWriter(path));
  const reader = await attempt(async () => openReader(path));
  return {
    reader: { prepare: reader.prepare, attempt },
    writer: { orm: writer.orm, attempt: createWriteQueue(busyTimeoutMs, writer.transact) },
    close: () => {
      reader.close();
      writer.close();
    },
  };
}
