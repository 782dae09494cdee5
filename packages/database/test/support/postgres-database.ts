/** A migrated PostgreSQL database of one test on a running server. */
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { openTestDatabase } from "./test-database.ts";

export async function openPostgresTestDatabase(
  server: PostgresServer,
  options: { poolSize?: number; deadlineMs?: number } = {},
) {
  const url = await server.createDatabase();
  const reopen = async () => openPostgresDatabase({ url, ...options });
  return openTestDatabase({ url, reopen, query: (sql) => server.query(sql, url) });
}
