/** Migrated PostgreSQL databases of one test on a running server, and transactions of other clients. */
import { createEmptiedDatabases, REPLACE_KEY } from "@latchkey/testing/emptied-databases";
import { SUPERUSER } from "@latchkey/testing/postgres-data";
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import type { Database } from "../../src/index.ts";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { openTestDatabase, type TestDatabase } from "./test-database.ts";

type Options = Omit<Parameters<typeof openPostgresDatabase>[0], "url">;

/** The migrated database of each server that the others are copies of: a copy costs less than the migrations. */
const templates = new WeakMap<PostgresServer, Promise<string>>();

/** The databases of each server that are emptied for the next test. */
const emptied = new WeakMap<PostgresServer, ReturnType<typeof createEmptiedDatabases>>();

async function createTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  await using database = openPostgresDatabase({ url });
  await database.migrate();
  return url;
}

/** Returns the URL of a new database with the current schema, which no session uses. */
export async function createMigrated(server: PostgresServer): Promise<string> {
  const template = templates.get(server) ?? createTemplate(server);
  templates.set(server, template);
  return server.createDatabase(await template);
}

/** A database that no other test uses, before or after. */
export async function openPostgresTestDatabase(server: PostgresServer, options: Options = {}) {
  const url = await createMigrated(server);
  // One connection for all queries, which costs as much as dozens of them.
  const superuser = new Bun.SQL(url, { ...SUPERUSER, max: 1 });
  const query = async <Row>(sql: string) => (await superuser.unsafe(sql)) as Row[];
  await query(REPLACE_KEY);
  const reopen = async () => openPostgresDatabase({ url, ...options });
  const connection = { [Symbol.asyncDispose]: () => superuser.close() };
  return openTestDatabase({ url, reopen, query, isMigrated: true }, connection);
}

/** The open pools of databases that are emptied, by URL: new connections would cost more than most tests. */
const pools = new Map<string, Database>();

/** A database that is emptied for the next test, which also gets its pool, unless a test has changed its schema. */
export async function openEmptiedPostgresDatabase(server: PostgresServer): Promise<TestDatabase> {
  const open = emptied.get(server) ?? createEmptiedDatabases(() => createMigrated(server));
  emptied.set(server, open);
  const { url, query, isChanged, ...owned } = await open();
  const reopen = async () => openPostgresDatabase({ url });
  const database = pools.get(url) ?? (await reopen());
  pools.set(url, database);
  return {
    ...{ database, url, reopen, query },
    [Symbol.asyncDispose]: async () => {
      if (isChanged()) {
        pools.delete(url);
        await database.close();
      }
      await owned[Symbol.asyncDispose]();
    },
  };
}

/** Runs `sql` in a transaction that stays open until `commit`. */
export async function hold({ url }: TestDatabase, sql: string) {
  const client = new Bun.SQL(url, { max: 1 });
  await client.unsafe(`begin; ${sql}`).simple();
  return { commit: () => client.unsafe("commit").simple(), [Symbol.asyncDispose]: () => client.close() };
}
