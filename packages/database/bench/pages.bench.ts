/** Measures pages of todos at the start, the middle and the end of a million rows on both databases, with the query plan. */
import { describeMachine } from "@latchkey/cli";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import type { Database } from "../src/index.ts";
import { openLibsqlTestDatabase } from "../test/support/libsql-database.ts";
import { openPostgresTestDatabase } from "../test/support/postgres-database.ts";

const ROWS = 1_000_100;
const STARTS = [0, 500_000, 1_000_000];
const LIMIT = 21;
const ROUNDS = 15;
const PAGES_PER_ROUND = 200;
const PAGE = `select * from todos where id > 1000000 order by id limit ${LIMIT}`;

const print = (line: string) => process.stdout.write(`${line}\n`);

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Returns the microseconds per page at each start; interleaved, so that other load affects all equally. */
async function measure({ todos }: Database): Promise<number[]> {
  const samples = STARTS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, after] of STARTS.entries()) {
      const startedAt = performance.now();
      for (let count = 0; count < PAGES_PER_ROUND; count++) await todos.list({ after, limit: LIMIT });
      samples[index]?.push(((performance.now() - startedAt) / PAGES_PER_ROUND) * 1_000);
    }
  }
  return samples.map(median);
}

async function report(name: string, database: Database, plan: string[]): Promise<void> {
  const costs = await measure(database);
  print(`\n${name}, ${ROWS.toLocaleString("en")} rows, ${LIMIT} rows per page, median of ${ROUNDS} rounds`);
  for (const [index, after] of STARTS.entries()) {
    print(
      `  after row ${String(after).padStart(9)}  ${(costs[index] ?? Number.NaN).toFixed(0).padStart(5)} µs per page`,
    );
  }
  print(`  last / first  ${((costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN)).toFixed(2)}`);
  for (const line of plan) print(`  ${line}`);
}

async function reportLibsqlPages(): Promise<void> {
  await using testDatabase = await openLibsqlTestDatabase();
  await testDatabase.query(`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${ROWS})
    insert into todos (title) select 'todo ' || n from numbers`);
  const plan = await testDatabase.query<{ detail: string }>(`explain query plan ${PAGE}`);
  const lines = plan.map(({ detail }) => detail);
  await report("libsql", testDatabase.database, lines);
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
  const lines = plan.map((line) => line["QUERY PLAN"]);
  await report("PostgreSQL", testDatabase.database, lines);
}

print(describeMachine());
await reportLibsqlPages();
await using server = await startPostgresServer();
await reportPostgresPages(server);
