/** Composes the libsql database from its client, repositories and migrations. */
import { sql } from "drizzle-orm";
import { QueryBuilder } from "drizzle-orm/sqlite-core";
import type { Database } from "../repositories.ts";
import { openClient } from "./client.ts";
import { migrate } from "./migrate.ts";
import { createRetry } from "./retry.ts";
import { createTodoRepository } from "./todos.ts";
import { parseFileUrl } from "./url.ts";
import { createUserRepository } from "./users.ts";

interface LibsqlOptions {
  /** A `file:` URL; the file and its folder are created if they do not exist. */
  readonly url: string;
  /** The folder that a relative path refers to. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** How long a statement waits while another process holds the write lock, in milliseconds. @default 5000 */
  readonly busyTimeoutMs?: number;
}

const PING_TIMEOUT_MS = 900;

/**
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable
 */
export async function openLibsqlDatabase({
  url,
  baseDirectory,
  busyTimeoutMs = 5_000,
}: LibsqlOptions): Promise<Database> {
  const path = parseFileUrl(url, baseDirectory);
  const client = await openClient(path, busyTimeoutMs);
  const attemptPing = createRetry(PING_TIMEOUT_MS);
  // A query without a table would not read the file.
  const countTables = client.reader.prepare(
    new QueryBuilder().select({ count: sql<number>`count(*)` }).from(sql`sqlite_schema`),
  );
  const close = async () => client.close();
  return {
    kind: "libsql",
    users: createUserRepository(client),
    todos: createTodoRepository(client),
    ping: async () => void (await attemptPing(countTables)),
    migrate: () => migrate({ path }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
