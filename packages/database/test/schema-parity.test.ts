/** The two schemas are one: what one database promises about its columns and their uniqueness, the other promises too. */

import { expect, setDefaultTimeout, test } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openLibsqlScratch } from "./libsql-scratch.ts";
import { openPostgresScratch } from "./postgres-scratch.ts";

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

/** An identity column fills itself in, and so does SQLite's integer primary key. */
const queries = {
  libsql: {
    columns: `
      select t.name as "table", c.name as "column", c.type as type, 1 - c."notnull" as nullable,
        (c.dflt_value is not null or c.pk > 0) as defaulted
      from sqlite_schema t join pragma_table_info(t.name) c
      where t.type = 'table' and t.name in ('users', 'todos')`,
    indexes: `
      select t.name as "table", group_concat(c.name) as columns, i."unique" as "unique"
      from sqlite_schema t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
      where t.type = 'table' and t.name in ('users', 'todos') group by t.name, i.name
      union all select name, 'id', 1 from sqlite_schema where type = 'table' and name in ('users', 'todos')`,
  },
  postgres: {
    columns: `
      select table_name as "table", column_name as "column", data_type as type, (is_nullable = 'YES')::int as nullable,
        (column_default is not null or is_identity = 'YES')::int as defaulted
      from information_schema.columns where table_schema = 'public' and table_name in ('users', 'todos')`,
    indexes: `
      select t.relname as "table", string_agg(a.attname, ',') as columns, i.indisunique::int as "unique"
      from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
      where t.relname in ('users', 'todos') group by t.relname, i.indexrelid, i.indisunique`,
  },
};

/** What each type is in the other database; a column whose type is not here is a difference. */
const typeNames: Readonly<Record<string, string>> = {
  bigint: "INTEGER",
  boolean: "INTEGER",
  text: "TEXT",
  "timestamp with time zone": "TEXT",
};

function byName<Row extends { table: string }>(rows: Row[], key: (row: Row) => string): Map<string, Row> {
  return new Map(rows.map((row) => [`${row.table}(${key(row)})`, row] as const).sort());
}

test("columns, nullability, defaults, unique constraints and indexes are the same", async () => {
  await using server = await startPostgresServer();
  await using libsql = await openLibsqlScratch();
  await using postgres = await openPostgresScratch(server);

  const here = byName(await libsql.query<Column>(queries.libsql.columns), ({ column }) => column);
  const there = byName(await postgres.query<Column>(queries.postgres.columns), ({ column }) => column);
  expect(here.size).toBe(12);
  expect([...there.keys()]).toEqual([...here.keys()]);
  for (const [name, { type, ...column }] of there) {
    expect(here.get(name)).toEqual({ ...column, type: typeNames[type] ?? `no equal of ${type}` });
  }

  const indexesHere = byName(await libsql.query<Index>(queries.libsql.indexes), ({ columns }) => columns);
  const indexesThere = byName(
    await postgres.query<Index>(queries.postgres.indexes),
    ({ columns }) => columns,
  );
  expect([...indexesThere]).toEqual([...indexesHere]);
  expect([...indexesHere.keys()]).toEqual(["todos(id)", "users(email)", "users(id)", "users(username)"]);
});
