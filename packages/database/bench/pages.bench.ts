/**
 * Measures a user by id and pages of todos at the start, the middle and the end of a million rows on both databases, with
 * the query plan; the embedded database beside `bun:sqlite`, which returns the rows without any conversion.
 */
import { Database as BunSqlite } from "bun:sqlite";
import { interleave, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import type { Database } from "../src/index.ts";
import { openLibsqlTestDatabase } from "../test/support/libsql-database.ts";
import { openPostgresTestDatabase } from "../test/support/postgres-database.ts";

parseOptions({});

const ROWS = 1_000_100;
const STARTS = [0, 500_000, 1_000_000];
const LIMIT = 21;
const ROUNDS = 15;
const QUERIES_PER_ROUND = 200;
const PAGE = `select * from todos where id > 1000000 order by id limit ${LIMIT}`;

const USER = {
  email: "bench@example.org",
  username: "bench",
  hashedPassword: `${"0".repeat(32)}$${"0".repeat(64)}`,
};

type Queries = Readonly<Record<string, () => unknown>>;

/** Prints the microseconds per query. */
async function report(name: string, queries: Queries, plan: readonly string[]): Promise<void> {
  const measure = async (query: () => unknown): Promise<number> => {
    const startedAt = performance.now();
    for (let count = 0; count < QUERIES_PER_ROUND; count++) await query();
    return ((performance.now() - startedAt) / QUERIES_PER_ROUND) * 1_000;
  };
  const tasks = Object.entries(queries).map(([query, run]) => [query, () => measure(run)] as const);
  const results = await interleave(Object.fromEntries(tasks), { rounds: ROUNDS });
  print(`\n${name}, ${ROWS.toLocaleString("en")} rows, ${LIMIT} rows per page, µs per query`);
  for (const [query, microseconds] of Object.entries(results)) printRow(query, microseconds);
  for (const line of plan) print(`  ${line}`);
}

/** The queries of a repository. */
const queriesOf = ({ todos, users }: Database, id: number): Queries => ({
  "user by id": () => users.findById(id),
  ...Object.fromEntries(
    STARTS.map((after) => [`page after row ${after}`, () => todos.list({ after, limit: LIMIT })]),
  ),
});

/** The same queries with `bun:sqlite`. Use a copy of the file: a second SQLite library would release the locks of the first. */
function queriesOfBunSqlite(sqlite: BunSqlite, id: number): Queries {
  const user = sqlite.prepare(
    "select id, email, username, hashed_password, is_active, created_at, updated_at from users where id = ?",
  );
  const page = sqlite.prepare(
    "select id, title, completed, created_at, updated_at from todos where id > ? order by id limit ?",
  );
  return {
    "bun:sqlite: user by id": () => user.get(id),
    ...Object.fromEntries(
      STARTS.map((after) => [`bun:sqlite: page after row ${after}`, () => page.all(after, LIMIT)]),
    ),
  };
}

async function reportLibsqlPages(): Promise<void> {
  await using testDatabase = await openLibsqlTestDatabase();
  await testDatabase.query(`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${ROWS})
    insert into todos (title) select 'todo ' || n from numbers`);
  const plan = await testDatabase.query<{ detail: string }>(`explain query plan ${PAGE}`);
  const { id } = await testDatabase.database.users.create(USER);
  const copy = `${testDatabase.path}-copy`;
  await testDatabase.query(`vacuum into '${copy}'`);
  using sqlite = new BunSqlite(copy, { readonly: true });
  const queries = { ...queriesOf(testDatabase.database, id), ...queriesOfBunSqlite(sqlite, id) };
  const lines = plan.map(({ detail }) => detail);
  await report("libsql", queries, lines);
}

async function reportPostgresPages(server: PostgresServer): Promise<void> {
  await using testDatabase = await openPostgresTestDatabase(server);
  await testDatabase.query(
    `insert into todos (title) select 'todo ' || n from generate_series(1, ${ROWS}) n`,
  );
  await testDatabase.query("vacuum analyze todos");
  const plan = await testDatabase.query<{ "QUERY PLAN": string }>(
    `explain (analyze, buffers, costs off) ${PAGE}`,
  );
  const { id } = await testDatabase.database.users.create(USER);
  const lines = plan.map((line) => line["QUERY PLAN"]);
  await report("PostgreSQL", queriesOf(testDatabase.database, id), lines);
}

await reportLibsqlPages();
await using server = await startPostgresServer();
await reportPostgresPages(server);
