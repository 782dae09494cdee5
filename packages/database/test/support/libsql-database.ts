/** A migrated libsql database in a temporary folder. */
import { openMigratedFolder } from "@latchkey/testing/migrated-file";
import { querySqlite } from "@latchkey/testing/sqlite";
import { openDatabase } from "../../src/index.ts";
import { openLibsqlDatabase } from "../../src/libsql/database.ts";
import { openTestDatabase } from "./test-database.ts";

/** A migration gives each database a key of its own. */
const REPLACE_KEY = "update digest_keys set key = lower(hex(randomblob(32)))";

export async function openLibsqlTestDatabase(options: { busyTimeoutMs?: number } = {}) {
  const folder = await openMigratedFolder((url) => openDatabase({ url }));
  const url = folder.databaseUrl;
  const path = url.slice("file:".length);
  const reopen = () => openLibsqlDatabase({ path, ...options });
  const query = <Row>(sql: string) => querySqlite<Row>(url, sql);
  await query(REPLACE_KEY);
  return { ...(await openTestDatabase({ url, reopen, query, isMigrated: true }, folder)), path };
}
