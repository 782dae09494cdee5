/** A migrated PostgreSQL database of one test on a running server. */
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import type { TestDatabase } from "./test-database.ts";

export async function openPostgresTestDatabase(
  server: PostgresServer,
  options: { poolSize?: number; deadlineMs?: number } = {},
): Promise<TestDatabase> {
  const url = await server.createDatabase();
  const reopen = async () => openPostgresDatabase({ url, ...options });
  const database = await reopen();
  await database.migrate();
  return {
    database,
    url,
    reopen,
    query: (sql) => server.query(sql, url),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
