/** A migrated PostgreSQL database of its own on a running server. */

import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresDatabase } from "../src/postgres/database.ts";
import type { Scratch } from "./repository-conformance.ts";

export interface PostgresScratch extends Scratch {
  readonly url: string;
  /** Runs SQL on a connection of its own. */
  query<Row>(sql: string): Promise<Row[]>;
}

export async function openPostgresScratch(
  server: PostgresServer,
  options: { poolSize?: number; deadlineMs?: number } = {},
): Promise<PostgresScratch> {
  const url = await server.createDatabase();
  const reopen = async () => openPostgresDatabase({ url, ...options });
  const database = await reopen();
  await database.migrate();
  return {
    database,
    url,
    reopen,
    query: (sql) => server.query(sql, url),
    execute: async (sql) => void (await server.query(sql, url)),
    [Symbol.asyncDispose]: () => database.close(),
  };
}
