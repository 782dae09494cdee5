/** Puts the parts of the embedded database together. */

import { sql } from "drizzle-orm";
import type { Database } from "../repositories.ts";
import { createAttempt } from "./attempt.ts";
import { openClient } from "./client.ts";
import { migrate } from "./migrate.ts";
import { createTodoRepository } from "./todos.ts";
import { parseFileUrl } from "./url.ts";
import { createUserRepository } from "./users.ts";

export interface LibsqlOptions {
  /** A `file:` URL; the file and its folder are made when they are not there. */
  readonly url: string;
  /** Where a relative path starts. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** How long a statement waits for another process that holds the write lock, in milliseconds. @default 5000 */
  readonly patienceMs?: number;
}

const pingPatienceMs = 900;

/**
 * @throws UnsupportedDatabaseUrl
 * @throws DatabaseUnavailable
 */
export async function openLibsqlDatabase({
  url,
  baseDirectory,
  patienceMs = 5_000,
}: LibsqlOptions): Promise<Database> {
  const path = parseFileUrl(url, baseDirectory);
  const client = await openClient(path, patienceMs);
  const pingAttempt = createAttempt(pingPatienceMs);
  const close = async () => client.close();
  return {
    kind: "libsql",
    users: createUserRepository(client),
    todos: createTodoRepository(client),
    // A query without a table would not look at the file.
    ping: async () =>
      void (await pingAttempt(() => client.reader.orm.get(sql`select count(*) from sqlite_schema`))),
    migrate: () => migrate(path),
    close,
    [Symbol.asyncDispose]: close,
  };
}
