/** Both databases have the same columns, constraints and indexes, and their migrations match their schemas. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openLibsqlTestDatabase } from "./support/libsql-database.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";

setDefaultTimeout(30_000);

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly nullable: number;
  readonly defaulted: number;
}

interface Index {
  readonly table: string;
  readonly columns: string;
  readonly unique: number;
}

/** Identity columns and their equivalent, SQLite's integer primary keys, count as columns with a default. */
const QUERIES = {
  libsql: {
    columns: `
      select t.name as "table", c.name as "column", c.type as type, 1 - c."notnull" as nullable,
        (c.dflt_value is not null or c.name = 'id') as defaulted
      from sqlite_schema t join pragma_table_info(t.name) c
      where t.type = 'table' and t.name in ('users', 'todos', 'user_networks', 'outbox')`,
    indexes: `
      select t.name as "table", group_concat(c.name order by c.seqno) as columns, i."unique" as "unique"
      from sqlite_schema t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
      where t.type = 'table' and t.name in ('users', 'todos', 'user_networks', 'outbox') group by t.name, i.name
      union all select name, 'id', 1 from sqlite_schema where type = 'table' and name in ('users', 'todos', 'outbox')`,
  },
  postgres: {
    columns: `
      select table_name as "table", column_name as "column", data_type as type, (is_nullable = 'YES')::int as nullable,
        (column_default is not null or is_identity = 'YES')::int as defaulted
      from information_schema.columns where table_schema = 'public' and table_name in ('users', 'todos', 'user_networks', 'outbox')`,
    indexes: `
      select t.relname as "table",
        string_agg(a.attname, ',' order by array_position(i.indkey::int2[], a.attnum)) as columns, i.indisunique::int as "unique"
      from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
      where t.relname in ('users', 'todos', 'user_networks', 'outbox') group by t.relname, i.indexrelid, i.indisunique`,
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

function byName<Row extends { table: string }>(rows: Row[], key: (row: Row) => string): Map<string, Row> {
  return new Map(rows.map((row) => [`${row.table}(${key(row)})`, row] as const).sort());
}

test("columns, nullability, defaults, unique constraints and indexes are the same in both databases", async () => {
  await using server = await startPostgresServer();
  await using libsql = await openLibsqlTestDatabase();
  await using postgres = await openPostgresTestDatabase(server);

  const libsqlColumns = byName(await libsql.query<Column>(QUERIES.libsql.columns), ({ column }) => column);
  const postgresColumns = byName(
    await postgres.query<Column>(QUERIES.postgres.columns),
    ({ column }) => column,
  );
  expect(libsqlColumns.size).toBeGreaterThan(20);
  expect([...postgresColumns.keys()]).toEqual([...libsqlColumns.keys()]);
  for (const [name, { type, ...column }] of postgresColumns) {
    expect(libsqlColumns.get(name)).toEqual({
      ...column,
      type: LIBSQL_TYPES[type] ?? `no equivalent of ${type}`,
    });
  }

  const keyOf = ({ columns, unique }: Index) => (unique ? columns : `${columns}, not unique`);
  const libsqlIndexes = byName(await libsql.query<Index>(QUERIES.libsql.indexes), keyOf);
  const postgresIndexes = byName(await postgres.query<Index>(QUERIES.postgres.indexes), keyOf);
  expect([...postgresIndexes]).toEqual([...libsqlIndexes]);
  expect(libsqlIndexes.size).toBe(10);
});

test.each(["libsql", "postgres"])("the %s migrations match the schema", (dialect) => {
  const { stdout } = Bun.spawnSync(
    [process.execPath, "x", "drizzle-kit", "generate", `--config=drizzle-${dialect}.config.ts`],
    { cwd: join(import.meta.dir, "..") },
  );
  expect(stdout.toString()).toContain("No schema changes");
});
