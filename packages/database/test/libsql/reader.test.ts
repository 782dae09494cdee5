/** The prepared statements of the reading connection: locks, snapshots, schema changes, and rows that an operator edited. */
import { expect, it, spyOn } from "bun:test";
import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { holdSqliteLock, querySqlite } from "@latchkey/testing/sqlite";
import { sql } from "drizzle-orm";
import { QueryBuilder } from "drizzle-orm/sqlite-core";
import Database from "libsql";
import { readTimestamp } from "../../src/libsql/columns.ts";
import { openReader, type Reader } from "../../src/libsql/reader.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { migrateInProcesses, spawnReplica } from "../support/replica.ts";
import { createTest, errorOf } from "../support/test-database.ts";

const test = createTest(openLibsqlTestDatabase);

const ADD_TODO = "insert into todos (title) values ('x')";

function prepareCount(reader: Reader, table: "numbers" | "todos"): () => Promise<number> {
  const query = new QueryBuilder()
    .select({ count: sql<number>`count(*)` })
    .from(sql`${sql.identifier(table)}`);
  const run = reader.prepare(query);
  return async () => (await run())[0]?.count ?? Number.NaN;
}

it("after a lock conflict, no statement of the reader keeps a lock or an old snapshot", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "rollback-journal.db");
  const url = `file:${path}`;
  await querySqlite(url, "create table numbers (value integer)");
  const reader = openReader(path);
  const count = prepareCount(reader, "numbers");
  const sum = reader.prepare(new QueryBuilder().select({ sum: sql`total(value)` }).from(sql`numbers`));
  expect([await count(), sum()]).toEqual([0, [{ sum: 0 }]]);
  {
    await using _lock = await holdSqliteLock(url, "hold-exclusively");
    const error = await count().catch((reason) => reason);
    expect(error.code).toBe("SQLITE_BUSY");
  }
  for (const value of [1, 2]) {
    sum();
    await querySqlite(url, "insert into numbers values (1)");
    expect([sum(), await count()]).toEqual([[{ sum: value }], value]);
  }
  reader.close();
});

it("while another process recovers the file after a killed writer, reads wait; then they return every acknowledged row", async () => {
  await using folder = await openFolder();
  const url = folder.databaseUrl;
  const path = url.slice("file:".length);
  // In other processes, because a closed connection of this one can hold its locks until it is garbage collected.
  await migrateInProcesses(1, url);
  await using writer = spawnReplica("write", url);
  let acknowledged = 0;
  for await (const chunk of writer.stdout.pipeThrough(new TextDecoderStream())) {
    acknowledged += chunk.split("\n").length - 1;
    if (acknowledged > 20) writer.kill("SIGKILL");
  }
  await writer.exited;
  expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
  const reader = openReader(path);
  const count = prepareCount(reader, "todos");
  {
    await using _recovery = await holdSqliteLock(url, "hold-exclusively");
    const error = await count().catch((reason) => reason);
    expect(error.code).toBe("SQLITE_BUSY");
  }
  const recovered = await count();
  expect(recovered).toBeGreaterThanOrEqual(acknowledged);
  await querySqlite(url, ADD_TODO);
  expect(await count()).toBe(recovered + 1);
  reader.close();
});

test("reads do not prevent a checkpoint from emptying the write-ahead log", async (testDatabase) => {
  const { todos } = testDatabase;
  for (const rows of [1, 2, 150]) {
    for (let row = 0; row < rows; row++) await todos.create({ title: "x", completed: false });
    for (const limit of [1, 100, 101]) await todos.list({ after: 0, limit });
    await todos.findById(1);
    await todos.findById(10_000);
    expect(await testDatabase.query<object>("pragma wal_checkpoint(truncate)")).toMatchObject([{ busy: 0 }]);
    expect((await stat(`${testDatabase.path}-wal`)).size).toBe(0);
  }
});

test("statements follow schema changes of another process", async ({ todos, query }) => {
  await query(ADD_TODO);
  const page = await todos.list({ after: 0, limit: 10 });
  expect(page).toHaveLength(1);
  await query("alter table todos add column extra text default 'extra'");
  await query("create index todos_title on todos (title)");
  expect(await todos.list({ after: 0, limit: 10 })).toEqual(page);
  await query("alter table todos rename to renamed");
  expect(await errorOf(todos.list({ after: 0, limit: 10 }))).toMatchObject({ reason: "SQLITE_ERROR" });
  await query("alter table renamed rename to todos");
  expect(await todos.list({ after: 0, limit: 10 })).toEqual(page);
});

test("each query is prepared once, whatever its values", async ({ reopen }) => {
  const prepare = spyOn(Database.prototype, "prepare");
  await using database = await reopen();
  const { todos, users, ping } = database;
  for (let value = 1; value <= 50; value++) {
    await todos.list({ after: value, limit: value });
    await todos.findById(value);
    await users.findById(value);
    await users.findByEmail(`u${value}@example.org`);
    await users.list({ after: value, limit: value });
    await ping();
  }
  const texts = prepare.mock.calls.map(([text]) => text).filter((text) => text.startsWith("with selected"));
  prepare.mockRestore();
  expect(texts).toHaveLength(6);
  expect(new Set(texts).size).toBe(6);
});

it.skipIf(process.platform !== "linux")("a closed database does not keep its file open", async () => {
  const openFiles = async (path: string) => {
    const links = (await readdir("/proc/self/fd")).map((name) =>
      readlink(`/proc/self/fd/${name}`).catch(() => ""),
    );
    return (await Promise.all(links)).filter((target) => target.startsWith(path)).length;
  };
  await using testDatabase = await openLibsqlTestDatabase();
  Bun.gc(true);
  const before = await openFiles(testDatabase.path);
  const reader = openReader(testDatabase.path);
  const count = prepareCount(reader, "todos");
  await count();
  expect(await openFiles(testDatabase.path)).toBeGreaterThan(before);
  reader.close();
  // The driver closes the file when the last statement is garbage collected.
  Bun.gc(true);
  expect(await openFiles(testDatabase.path)).toBeLessThanOrEqual(before);
});

test("values that an operator wrote are read as the column's type, also if they are not valid UTF-8", async (testDatabase) => {
  const { todos } = testDatabase;
  await testDatabase.query(
    `insert into todos (title, completed, created_at) values
     (cast(x'61ff62' as text), 1, 1767322800), (x'61620063', 'true', x'00ff'), ('{"a":["\\"\u2028\u{1f600}' || char(1, 10), 0, 1e300)`,
  );
  const page = await todos.list({ after: 0, limit: 10 });
  expect(page.map(({ title, completed, createdAt }) => ({ title, completed, createdAt }))).toEqual([
    { title: "a\ufffdb", completed: true, createdAt: "1970-01-01T00:00:00.000Z" },
    { title: "ab\0c", completed: false, createdAt: "1970-01-01T00:00:00.000Z" },
    { title: '{"a":["\\"\u2028\u{1f600}\u0001\n', completed: false, createdAt: "1970-01-01T00:00:00.000Z" },
  ]);
  expect(await todos.findById(page[0]?.id ?? 0)).toEqual(page[0] ?? null);
});

it("a timestamp passes through unchanged exactly if parsing and formatting it would not change it", () => {
  const years = ["0000", "1900", "1999", "2000", "2024", "2026", "9999"];
  const pairs = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, "0"));
  const days = years.flatMap((year) =>
    pairs.slice(0, 14).flatMap((month) => pairs.slice(0, 33).map((day) => `${year}-${month}-${day}`)),
  );
  const texts = [
    ...days.flatMap((day) => [`${day}T23:59:59.999Z`, `${day} 00:00:00`, day]),
    ...pairs.flatMap((pair) => [
      `2026-01-02T${pair}:00:00.000Z`,
      `2026-01-02T00:${pair}:00.000Z`,
      `2026-01-02T00:00:${pair}.000Z`,
      `2026-01-02T00:00:00.${pair}Z`,
    ]),
    "2026-01-02T03:04:05.678z",
    "2026-01-02t03:04:05.678Z",
    "2026-01-02T03:04:05.678Z\n",
    " 2026-01-02T03:04:05.678Z",
    "+002026-01-02T03:04:05.678Z",
    "2026-01-02T03:04:05.678+00:00",
  ];
  for (const text of texts) {
    const date = new Date(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text.replace(" ", "T")}Z`);
    const expected = Number.isNaN(date.getTime()) ? "1970-01-01T00:00:00.000Z" : date.toISOString();
    expect({ text, read: readTimestamp(text) }).toEqual({ text, read: expected });
  }
});
