/** Composes the libsql database from its client, repositories and migrations. */
import { existsSync } from "node:fs";
import { sql } from "drizzle-orm";
import { QueryBuilder } from "drizzle-orm/sqlite-core";
import type { Database } from "../database.ts";
import { createRepositories } from "../repositories/repositories.ts";
import { openClient } from "./client.ts";
import { dialect } from "./dialect.ts";
import { migrate } from "./migrate.ts";
import { createRetry } from "./retry.ts";

/** The file and its folder are created if they do not exist. */
interface LibsqlOptions {
  readonly path: string;
  /** How long a statement waits while another process holds the write lock, in milliseconds. @default 4000 */
  readonly busyTimeoutMs?: number;
}

const PING_TIMEOUT_MS = 900;
const MAX_COLLECTIONS = 3;

/** How many databases of this process are open at each path. */
const openCounts = new Map<string, number>();

const countOpen = (path: string, change: 1 | -1): number => {
  const count = (openCounts.get(path) ?? 0) + change;
  if (count > 0) openCounts.set(path, count);
  else openCounts.delete(path);
  return count;
};

/** @throws DatabaseUnavailable */
export async function openLibsqlDatabase({ path, busyTimeoutMs = 4_000 }: LibsqlOptions): Promise<Database> {
  const client = await openClient(path, busyTimeoutMs);
  const attemptPing = createRetry(PING_TIMEOUT_MS);
  // A query without a table would not read the file.
  const countTables = client.reader.prepare(
    new QueryBuilder().select({ count: sql<number>`count(*)` }).from(sql`sqlite_schema`),
  );
  let isOpen = true;
  const close = async () => {
    client.close();
    if (!isOpen) return;
    isOpen = false;
    // libsql closes a connection when its statements are collected. The last connection deletes the files beside the database:
    // while this process has another one, a collection would cost time for nothing.
    if (countOpen(path, -1) > 0) return;
    for (let attempt = 0; attempt < MAX_COLLECTIONS && existsSync(`${path}-wal`); attempt++) {
      await Bun.sleep(1);
      Bun.gc(true);
    }
  };
  try {
    // This query takes the shared lock with which `restoreFile` detects an open file.
    await client.reader.attempt(async () => countTables());
  } catch (error) {
    client.close();
    throw error;
  }
  countOpen(path, 1);
  return {
    kind: "libsql",
    ...createRepositories(client, dialect),
    ping: async () => {
      await attemptPing(async () => {
        client.expectSameFile();
        return countTables();
      });
    },
    migrate: () => migrate(path),
    // SQLite continues after the highest id of the table, also if `sqlite_sequence` has a lower one.
    checkIds: async () => {},
    close,
    [Symbol.asyncDispose]: close,
  };
}
