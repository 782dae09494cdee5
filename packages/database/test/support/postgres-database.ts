/** A migrated PostgreSQL database of one test on a running server, and transactions of other clients. */
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { openTestDatabase, type TestDatabase } from "./test-database.ts";

export async function openPostgresTestDatabase(
  server: PostgresServer,
  options: Omit<Parameters<typeof openPostgresDatabase>[0], "url"> = {},
) {
  const url = await server.createDatabase();
  const reopen = async () => openPostgresDatabase({ url, ...options });
  return openTestDatabase({ url, reopen, query: (sql) => server.query(sql, url) });
}

/** Runs `sql` in a transaction that stays open until `commit`. */
export async function hold({ url }: TestDatabase, sql: string) {
  const client = new Bun.SQL(url, { max: 1 });
  await client.unsafe(`begin; ${sql}`).simple();
  return { commit: () => client.unsafe("commit").simple(), [Symbol.asyncDispose]: () => client.close() };
}
