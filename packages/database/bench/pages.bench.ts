/** Measures a page of todos from the start, the middle and the end of a million rows on both databases, with the query plan. */

import { describeMachine } from "@latchkey/testing/machine";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import type { Database } from "../src/index.ts";
import { openLibsqlScratch } from "../test/libsql-scratch.ts";
import { openPostgresScratch } from "../test/postgres-scratch.ts";

const rows = 1_000_100;
const starts = [0, 500_000, 1_000_000];
const limit = 21;
const rounds = 15;
const pagesPerRound = 200;
const page = `select * from todos where id > 1000000 order by id limit ${limit}`;

const print = (line: string) => process.stdout.write(`${line}\n`);

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Microseconds for a page from each start, measured in turns so that a busy machine is unfair to none. */
async function measure({ todos }: Database): Promise<number[]> {
  const samples = starts.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, after] of starts.entries()) {
      const began = performance.now();
      for (let count = 0; count < pagesPerRound; count++) await todos.list({ after, limit });
      samples[index]?.push(((performance.now() - began) / pagesPerRound) * 1_000);
    }
  }
  return samples.map(median);
}

async function report(name: string, database: Database, plan: string[]): Promise<void> {
  const costs = await measure(database);
  print(`\n${name}, ${rows.toLocaleString("en")} rows, ${limit} rows a page, median of ${rounds} rounds`);
  for (const [index, after] of starts.entries()) {
    print(
      `  after row ${String(after).padStart(9)}  ${(costs[index] ?? Number.NaN).toFixed(0).padStart(5)} µs a page`,
    );
  }
  print(`  last to first  ${((costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN)).toFixed(2)}`);
  for (const line of plan) print(`  ${line}`);
}

/** Measures the embedded database, which needs nothing. */
async function reportLibsqlPages(): Promise<void> {
  await using scratch = await openLibsqlScratch();
  await scratch.execute(`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
    insert into todos (title) select 'todo ' || n from numbers`);
  const plan = await scratch.query<{ detail: string }>(`explain query plan ${page}`);
  const lines = plan.map(({ detail }) => detail);
  await report("libsql", scratch.database, lines);
}

/** Measures a new database of a running server. */
async function reportPostgresPages(server: PostgresServer): Promise<void> {
  await using scratch = await openPostgresScratch(server);
  await scratch.execute(`insert into todos (title) select 'todo ' || n from generate_series(1, ${rows}) n`);
  await scratch.execute("vacuum analyze todos");
  const plan = await scratch.query<{ "QUERY PLAN": string }>(`explain (analyze, buffers, costs off) ${page}`);
  const lines = plan.map((line) => line["QUERY PLAN"]);
  await report("PostgreSQL", scratch.database, lines);
}

print(describeMachine());
await reportLibsqlPages();
await using server = await startPostgresServer();
await reportPostgresPages(server);
