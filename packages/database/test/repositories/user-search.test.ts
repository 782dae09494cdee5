/** The plans of both databases for the searches of operators: every condition has an index, so no page reads all users. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { SQL } from "bun";
import { drizzle } from "drizzle-orm/pg-proxy";
import Database from "libsql";
import { createOrm } from "../../src/libsql/connection.ts";
import { dialect as libsqlDialect } from "../../src/libsql/dialect.ts";
import { dialect as postgresDialect } from "../../src/postgres/dialect.ts";
import { matchesQuery, searchQuery, type UserSearch } from "../../src/repositories/user-search.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { openPostgresTestDatabase } from "../support/postgres-database.ts";

setDefaultTimeout(60_000);

const PREFIX = /users_email_(prefix|unique).*users_username_prefix/;
const SEARCHES: readonly (readonly [index: RegExp, request: Partial<UserSearch>])[] = [
  [/users_pkey|PRIMARY KEY \(rowid>\?\)/, {}],
  [/users_email_(prefix|unique)/, { email: "ada@example.org" }],
  [PREFIX, { search: "ada" }],
  [/users_inactive_index/, { isActive: false }],
  [/users_roles_index/, { role: "admin" }],
  [/users_imported_index/, { isWithoutPassword: true }],
];

test("libsql finds the users of each search by an index", async () => {
  await using opened = await openLibsqlTestDatabase();
  const database = new Database(opened.path);
  const orm = createOrm(() => []);
  const plan = ({ sql, params }: { readonly sql: string; readonly params: unknown[] }) =>
    JSON.stringify(database.prepare(`explain query plan ${sql}`).all(params));
  for (const [index, request] of SEARCHES)
    expect(plan(searchQuery(orm, libsqlDialect, { after: 0, limit: 21, ...request }, false).toSQL())).toMatch(
      index,
    );
  expect(plan(matchesQuery(orm, libsqlDialect, "ada").toSQL())).toMatch(PREFIX);
  database.close();
});

test("PostgreSQL finds the users of each search by an index", async () => {
  await using server = await startPostgresServer();
  await using opened = await openPostgresTestDatabase(server);
  await opened.query(`insert into users (email, username, hashed_password, is_active, roles)
    select 'user' || i || '@example.org', 'User' || i, 's$d', i % 500 > 0, case when i % 500 > 0 then '[]' else '["a"]' end
    from generate_series(1, 20000) i`);
  await opened.query("analyze users");
  await using client = new SQL(opened.url, { max: 1 });
  const orm = drizzle(async () => ({ rows: [] }));
  const plan = async ({ sql, params }: { readonly sql: string; readonly params: unknown[] }) =>
    JSON.stringify(await client.unsafe(`explain ${sql}`, params));
  for (const [index, request] of SEARCHES)
    expect(
      await plan(searchQuery(orm, postgresDialect, { after: 0, limit: 21, ...request }, false).toSQL()),
    ).toMatch(index);
  expect(await plan(matchesQuery(orm, postgresDialect, "ada").toSQL())).toMatch(PREFIX);
});
