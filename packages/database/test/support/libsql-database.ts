/** A migrated libsql database in a temporary folder. */
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite } from "@latchkey/testing/sqlite";
import { openLibsqlDatabase } from "../../src/libsql/database.ts";
import type { TestDatabase } from "./test-database.ts";

export interface LibsqlTestDatabase extends TestDatabase {
  readonly path: string;
}

export async function openLibsqlTestDatabase(
  options: { busyTimeoutMs?: number } = {},
): Promise<LibsqlTestDatabase> {
  const folder = await openFolder();
  const url = folder.databaseUrl;
  const path = url.slice("file:".length);
  const reopen = () => openLibsqlDatabase({ path, ...options });
  const database = await reopen();
  await database.migrate();
  return {
    database,
    path,
    url,
    reopen,
    query: (sql) => querySqlite(url, sql),
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
