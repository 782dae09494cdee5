/** What is particular to libsql: the file and its permissions, pragmas, migrations, timestamps stored as text. */
import { describe, expect, it } from "bun:test";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { sql } from "drizzle-orm";
import { QueryBuilder } from "drizzle-orm/sqlite-core";
import { DatabaseUnavailable, openDatabase } from "../../src/index.ts";
import { openClient } from "../../src/libsql/client.ts";
import { dialect } from "../../src/libsql/dialect.ts";
import { createFactorAttempts } from "../../src/repositories/factor-attempts.ts";
import { createRepositories } from "../../src/repositories/repositories.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { migrateInProcesses } from "../support/replica.ts";
import { repositoryConformance } from "../support/repository-conformance.ts";
import { ada, createTest, errorOf } from "../support/test-database.ts";

const test = createTest(openLibsqlTestDatabase);

repositoryConformance("libsql", openLibsqlTestDatabase);

describe("the database file", () => {
  it("is created with its folders, accessible to its owner only", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "a folder/50% #1?/deep", "latchkey.db");
    await using database = await openDatabase({
      url: `file://${path.split("/").map(encodeURIComponent).join("/")}`,
    });
    await database.migrate();
    for (const suffix of ["", "-wal", "-shm"]) expect((await stat(path + suffix)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
  });

  test("is in WAL mode, and its connections do not wait for locks and sync every commit", async (testDatabase) => {
    const { reader, orm, attempt, close } = await openClient(testDatabase.path, 1_000);
    const settings = new QueryBuilder()
      .select({ journal_mode: sql`journal_mode`, timeout: sql`timeout`, synchronous: sql`synchronous` })
      .from(sql`pragma_journal_mode, pragma_busy_timeout, pragma_synchronous`);
    const expected = [{ journal_mode: "wal", timeout: 0, synchronous: 2 }];
    expect<unknown>(reader.prepare(settings)()).toEqual(expected);
    expect<unknown>(await attempt(async () => orm.execute(settings.getSQL()))).toMatchObject({
      rows: [["wal", 0, 2]],
    });
    close();
  });

  test("is written for each counted attempt of a second factor, and for no refused one", async ({
    path,
    users,
    factors,
  }) => {
    const user = await users.create({ ...ada, emailVerified: true });
    const factor = { id: "one", keyId: "k1", secret: "secret", lastStep: 10, recoveryCodes: "[]" };
    const token = { version: user.tokenVersion, exceptToken: null };
    await factors.create(factor, user, token, { replaced: null });
    const client = await openClient(path, 1_000);
    let writes = 0;
    const run = <T>(query: PromiseLike<T>) => {
      writes += 1;
      return client.run(query);
    };
    const { countAttempt } = createFactorAttempts({ ...client, run }, dialect);
    const attempts = Array.from({ length: 50 }, () => countAttempt({ userId: user.id, id: factor.id }));
    const results = (await Promise.all(attempts)).map(({ result }) => result);
    expect(results.filter((result) => result === "counted")).toHaveLength(5);
    expect(results.filter((result) => result === "paused")).toHaveLength(45);
    expect(writes).toBe(5);
    client.close();
  });

  test("can be read but not written when it is full", async ({ path }) => {
    const client = await openClient(path, 1_000);
    const { todos } = createRepositories(client, dialect);
    const { id } = await todos.create({ title: "fits", completed: false });
    await client.run(client.orm.execute("pragma max_page_count = 1"));
    const tooLong = todos.create({ title: "x".repeat(100_000), completed: false });
    const short = todos.create({ title: "fits, too", completed: false });
    const error = await tooLong.catch((reason) => reason);
    expect((await short).title).toBe("fits, too");
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error.reason).toBe("SQLITE_FULL");
    expect((await todos.findById(id))?.title).toBe("fits");
    client.close();
  });

  it("is unavailable if it cannot be opened or is not a database", async () => {
    await using folder = await openFolder();
    await mkdir(join(folder.path, "folder.db"));
    await Bun.write(
      join(folder.path, "text.db"),
      "These are not the pages you are looking for. ".repeat(100),
    );
    for (const name of ["folder.db", "text.db", "text.db/below.db"]) {
      const opened = openDatabase({ url: `file:${join(folder.path, name)}` });
      expect(await errorOf(opened)).toBeInstanceOf(DatabaseUnavailable);
    }
  });

  test("that is damaged while open makes queries fail but does not end the process", async (testDatabase) => {
    await testDatabase.todos.create({ title: "x", completed: false });
    await testDatabase.query("pragma wal_checkpoint(truncate)");
    await Bun.write(testDatabase.path, new Uint8Array(20_000).fill(0x55));
    await using second = await testDatabase.reopen().catch(() => testDatabase.database);
    expect(await errorOf(second.todos.list({ after: 0, limit: 1 }))).toBeInstanceOf(DatabaseUnavailable);
  });
});

test("timestamps are stored as RFC 3339 in UTC with milliseconds", async ({ todos, query }) => {
  const { createdAt } = await todos.create({ title: "x", completed: false });
  expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await query<object>("select created_at from todos")).toEqual([{ created_at: createdAt }]);
});

it("creates the schema once when several processes start on the same missing file", async () => {
  await using folder = await openFolder();
  const url = `file:${join(folder.path, "new", "latchkey.db")}`;
  await migrateInProcesses(4, url);
  await using database = await openDatabase({ url });
  expect(await database.todos.list({ after: 0, limit: 1 })).toEqual([]);
});
