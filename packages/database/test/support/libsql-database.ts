/** A migrated libsql database in a temporary folder. */
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite } from "@latchkey/testing/sqlite";
import { openLibsqlDatabase } from "../../src/libsql/database.ts";
import { openTestDatabase } from "./test-database.ts";

export async function openLibsqlTestDatabase(options: { busyTimeoutMs?: number } = {}) {
  const folder = await openFolder();
  const url = folder.databaseUrl;
  const path = url.slice("file:".length);
  const reopen = () => openLibsqlDatabase({ path, ...options });
  const query = <Row>(sql: string) => querySqlite<Row>(url, sql);
  return { ...(await openTestDatabase({ url, reopen, query }, folder)), path };
}
