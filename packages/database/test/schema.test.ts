/** Both databases have the same columns, constraints and indexes, and their migrations match their schemas. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openLibsqlTestDatabase } from "./support/libsql-database.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";

setDefaultTimeout(30_000);

/** Identity columns and their equivalent, SQLite's integer primary keys, count as columns with a default. */
const QUERIES = {
  libsql: {
    columns: `
      select t.name as "table", c.name as "column", c.type as type, 1 - c."notnull" as nullable,
        (c.dflt_value is not null or c.name = 'id') as defaulted
      from sqlite_schema t join pragma_table_info(t.name) c
      where t.type = 'table' and t.name in ('users', 'todos', 'user_networks', 'passkeys', 'outbox', 'deleted_imports') order by 1, 2`,
    indexes: `
      select t.name as "table", group_concat(c.name order by c.seqno) as columns, i."unique" as "unique"
      from sqlite_schema t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
      where t.type = 'table' and t.name in ('users', 'todos', 'user_networks', 'passkeys', 'outbox', 'deleted_imports') group by t.name, i.name
      union all select name, 'id', 1 from sqlite_schema where type = 'table' and name in ('users', 'todos', 'outbox')
      order by 1, 2, 3`,
  },
  postgres: {
    columns: `
      select table_name as "table", column_name as "column", data_type as type, (is_nullable = 'YES')::int as nullable,
        (column_default is not null or is_identity = 'YES')::int as defaulted
      from information_schema.columns where table_schema = 'public' and table_name in ('users', 'todos', 'user_networks', 'passkeys', 'outbox', 'deleted_imports')
      order by 1, 2`,
    indexes: `
      select t.relname as "table",
        string_agg(a.attname, ',' order by array_position(i.indkey::int2[], a.attnum)) as columns, i.indisunique::int as "unique"
      from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
      where t.relname in ('users', 'todos', 'user_networks', 'passkeys', 'outbox', 'deleted_imports') group by t.relname, i.indexrelid, i.indisunique
      order by 1, 2, 3`,
  },
};

/** The libsql type of each PostgreSQL type. */
const LIBSQL_TYPES: Readonly<Record<string, string>> = {
  bigint: "INTEGER",
  boolean: "INTEGER",
  integer: "INTEGER",
  text: "TEXT",
  "timestamp with time zone": "TEXT",
};

test("columns, nullability, defaults, unique constraints and indexes are the same in both databases", async () => {
  await using server = await startPostgresServer();
  await using libsql = await openLibsqlTestDatabase();
  await using postgres = await openPostgresTestDatabase(server);
  const columns = await libsql.query<object>(QUERIES.libsql.columns);
  const postgresColumns = await postgres.query<{ type: string }>(QUERIES.postgres.columns);
  expect(columns.length).toBeGreaterThan(20);
  const converted = postgresColumns.map(({ type, ...column }) => ({ ...column, type: LIBSQL_TYPES[type] }));
  expect<object[]>(converted).toEqual(columns);
  const indexes = await libsql.query(QUERIES.libsql.indexes);
  expect(indexes).toHaveLength(14);
  expect(await postgres.query(QUERIES.postgres.indexes)).toEqual(indexes);
});

test.each(["libsql", "postgres"])("the %s migrations match the schema", (dialect) => {
  const { stdout } = Bun.spawnSync(
    [process.execPath, "x", "drizzle-kit", "generate", `--config=drizzle-${dialect}.config.ts`],
    { cwd: join(import.meta.dir, "..") },
  );
  expect(stdout.toString()).toContain("No schema changes");
});
