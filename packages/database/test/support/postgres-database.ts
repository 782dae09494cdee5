/** Migrated PostgreSQL databases of one test on a running server, and transactions of other clients. */
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { openTestDatabase, type TestDatabase } from "./test-database.ts";

type Options = Omit<Parameters<typeof openPostgresDatabase>[0], "url">;

/** The migrated database of each server that the others are copies of: a copy costs less than the migrations. */
const templates = new WeakMap<PostgresServer, Promise<string>>();

/** A database that no test uses, with the connection that empties it. */
interface UnusedDatabase {
  readonly url: string;
  readonly superuser: Bun.SQL;
}

const unused = new WeakMap<PostgresServer, UnusedDatabase[]>();

async function createTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  await using database = openPostgresDatabase({ url });
  await database.migrate();
  return url;
}

async function createMigrated(server: PostgresServer): Promise<string> {
  const template = templates.get(server) ?? createTemplate(server);
  templates.set(server, template);
  return server.createDatabase(await template);
}

/** A migration gives each database a key of its own. */
const REPLACE_KEY = "update digest_keys set key = gen_random_uuid()::text";

/** Makes a database whose schema is unchanged as new. `truncate` costs four times as much as `delete` with few rows. */
const EMPTY = `
  do $$ declare name regclass; begin
    delete from events_state;
    for name in select c.oid from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname <> 'digest_keys' and relname not like '\\_\\_%' loop
      execute 'delete from ' || name;
    end loop;
    perform setval(c.oid, 1, false) from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'S'
      and relname not like '\\_\\_%';
    update __latchkey_migrations set oldest_release = '1.0.0' where oldest_release = '2.1.0-0';
    ${REPLACE_KEY};
  end $$`;

/** Statements that leave rows as they are, or change them only. */
const KEEPS_SCHEMA = /^\s*(delete|insert|select|update|with)\b[^;]*$/i;

/** A database that no other test uses, before or after. */
export async function openPostgresTestDatabase(server: PostgresServer, options: Options = {}) {
  const url = await createMigrated(server);
  await server.query(REPLACE_KEY, url);
  const reopen = async () => openPostgresDatabase({ url, ...options });
  return openTestDatabase({ url, reopen, query: (sql) => server.query(sql, url), isMigrated: true });
}

async function createUnused(server: PostgresServer): Promise<UnusedDatabase> {
  const url = await createMigrated(server);
  return { url, superuser: new Bun.SQL(url, { username: "postgres", password: "postgres", max: 1 }) };
}

/** A database that is emptied for the next test, which costs a tenth of a new one, unless a test has changed its schema. */
export async function openEmptiedPostgresDatabase(server: PostgresServer, options: Options = {}) {
  const databases = unused.get(server) ?? [];
  unused.set(server, databases);
  const used = databases.pop() ?? (await createUnused(server));
  const { url, superuser } = used;
  await superuser.unsafe(EMPTY);
  let isChanged = false;
  const reopen = async () => openPostgresDatabase({ url, ...options });
  const query = async <Row>(sql: string) => {
    isChanged ||= !KEEPS_SCHEMA.test(sql);
    return (await superuser.unsafe(sql)) as Row[];
  };
  const release = async () => {
    if (isChanged) await superuser.close();
    else databases.push(used);
  };
  return openTestDatabase({ url, reopen, query, isMigrated: true }, { [Symbol.asyncDispose]: release });
}

/** Runs `sql` in a transaction that stays open until `commit`. */
export async function hold({ url }: TestDatabase, sql: string) {
  const client = new Bun.SQL(url, { max: 1 });
  await client.unsafe(`begin; ${sql}`).simple();
  return { commit: () => client.unsafe("commit").simple(), [Symbol.asyncDispose]: () => client.close() };
}
