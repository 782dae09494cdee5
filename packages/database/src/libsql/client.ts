/**
 * The file and its two connections, one that reads and one that writes. The invariant: no connection outlives a statement
 * that met a lock. libsql leaves such a statement unfinished until it is collected, and an unfinished statement keeps every
 * later one of its connection from committing, without an error.
 */

import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, createClient, type InStatement, type Transaction } from "@libsql/client";
import { drizzle, type LibSQLDatabase } from "drizzle-orm/libsql";
import { DatabaseUnavailable } from "../errors.ts";
import { type Attempt, createAttempt, createQueuedAttempt } from "./attempt.ts";
import { isLockConflict } from "./errors.ts";

export interface Connection {
  readonly orm: LibSQLDatabase;
  readonly attempt: Attempt;
}

export interface LibsqlClient {
  readonly reader: Connection;
  /** One query at a time: the connection waits for none of its own. */
  readonly writer: Connection;
  close(): void;
}

/** Guarantee: what Drizzle's libsql session calls when neither its `batch` nor its `migrate` is used. */
type DrizzleClient = Pick<Client, "execute" | "transaction" | "close">;

export function createOrm(client: DrizzleClient): LibSQLDatabase {
  return drizzle(client as Client);
}

/** Makes the file, and the folders above it, readable by their owner alone; what exists is left as it is. */
async function createFile(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // Exclusively: closing a handle of a file that is already open would drop this process's locks on it.
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "SQLITE_CANTOPEN";
    if (code !== "EEXIST") throw new DatabaseUnavailable(code);
  }
}

/** One connection. It waits for no lock, and for every sync: `synchronous = FULL` is libsql's default. */
function connect(path: string): Client {
  return createClient({ url: pathToFileURL(path).href, concurrency: 1, timeout: 0 });
}

/** The mode is kept in the file, and read back from it by every later connection. */
async function useWriteAheadLog(path: string): Promise<void> {
  const client = connect(path);
  try {
    await client.execute("PRAGMA journal_mode = WAL");
  } finally {
    client.close();
  }
}

/** Takes the write lock by a script, the one way in which libsql finishes a statement that met a lock. */
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

/** Each query is a transaction that holds the write lock from its first statement. */
function openWriter(path: string): DrizzleClient {
  const client = connect(path);
  return {
    transaction: () => beginImmediate(client),
    execute: async (statement: InStatement | string) => {
      const transaction = await beginImmediate(client);
      try {
        const result = await transaction.execute(statement);
        await transaction.commit();
        return result;
      } finally {
        transaction.close();
      }
    },
    close: () => client.close(),
  };
}

/** A reader seldom meets a lock, but it may, when another process recovers the file: its connection is then replaced. */
export function openReader(path: string): DrizzleClient {
  let client = connect(path);
  return {
    transaction: () => client.transaction("read"),
    execute: async (statement: InStatement | string) => {
      const used = client;
      try {
        return await used.execute(statement);
      } catch (error) {
        if (isLockConflict(error) && used === client && !used.closed) {
          client = connect(path);
          setImmediate(() => used.close());
        }
        throw error;
      }
    },
    close: () => client.close(),
  };
}

/**
 * @param patienceMs how long a query waits for another process, in milliseconds
 * @throws DatabaseUnavailable when the file cannot be made, opened or read
 */
export async function openClient(path: string, patienceMs: number): Promise<LibsqlClient> {
  await createFile(path);
  const attempt = createAttempt(patienceMs);
  await attempt(() => useWriteAheadLog(path));
  const [writer, reader] = await attempt(async () => [openWriter(path), openReader(path)] as const);
  return {
    reader: { orm: createOrm(reader), attempt },
    writer: { orm: createOrm(writer), attempt: createQueuedAttempt(patienceMs) },
    close: () => {
      reader.close();
      writer.close();
    },
  };
}
