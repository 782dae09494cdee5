/** Errors of databases that cannot be used, as the operator sees them. */
import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { expectSentence, runTool } from "./support/tool.ts";

const LIST = ["users", "list"];

test("a database is not created by a misspelled path", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "missing", "latchkey.db");
  const { code, stdout, stderr } = await runTool(LIST, { env: { DATABASE_URL: `file:${path}` } });
  expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
  expect(stderr).toContain("bun run migrate");
  expectSentence(stderr);
  expect(existsSync(join(folder.path, "missing"))).toBe(false);
});

test("a database results in exit code 69 when its file is not a database", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "latchkey.db");
  await Bun.write(path, "This file holds something else, for more than a hundred bytes. ".repeat(40));
  const { code, stderr } = await runTool(LIST, { env: { DATABASE_URL: `file:${path}` } });
  expect(code).toBe(69);
  expect(stderr).toContain("SQLITE_NOTADB");
  expectSentence(stderr);
});

test("a database results in exit code 69 when it is unreachable, without printing its password", async () => {
  const env = { DATABASE_URL: "postgres://latchkey:hunter2@127.0.0.1:1/latchkey" };
  for (const args of [LIST, ["migrate"]]) {
    const { code, stdout, stderr } = await runTool(args, { env });
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).not.toContain("hunter2");
    expectSentence(stderr);
  }
});

test("a migration results in exit code 65 when the database rejects one of its statements", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "latchkey.db");
  {
    using sqlite = new Sqlite(path);
    sqlite.run("create table users (name text)");
  }
  const { code, stdout, stderr } = await runTool(["migrate"], { env: { DATABASE_URL: `file:${path}` } });
  expect({ code, stdout }).toEqual({ code: 65, stdout: "" });
  expect(stderr).toContain("rejected the migration (SQLITE_ERROR)");
  expectSentence(stderr);
});

test("a database is not migrated when its schema is newer and not compatible", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "latchkey.db");
  const env = { DATABASE_URL: `file:${path}` };
  expect((await runTool(["migrate"], { env })).code).toBe(0);
  {
    using sqlite = new Sqlite(path);
    sqlite.run("insert into __drizzle_migrations (hash, created_at) values ('later', 9000000000000)");
  }
  const { code, stderr } = await runTool(["migrate"], { env });
  expect(code).toBe(65);
  expect(stderr).toContain("newer than this release");
  expectSentence(stderr);
  {
    using sqlite = new Sqlite(path);
    sqlite.run(
      "insert into __latchkey_migrations (created_at, oldest_release) values (9000000000000, '0.0.1')",
    );
  }
  expect(await runTool(["migrate"], { env })).toMatchObject({
    code: 0,
    stdout: "The libsql database has a newer schema that is compatible with this release.\n",
  });
});

test("a database can be read but not written while another process holds the write lock", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "latchkey.db");
  const env = { DATABASE_URL: `file:${path}` };
  expect((await runTool(["migrate"], { env })).code).toBe(0);
  using sqlite = new Sqlite(path);
  sqlite.run("begin immediate");
  expect((await runTool(LIST, { env })).code).toBe(0);
  const create = ["users", "create", "ada@example.com", "-u", "ada"];
  const { code, stdout, stderr } = await runTool(create, { env, input: "correct horse" });
  expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
  expect(stderr).toContain("SQLITE_BUSY");
  expectSentence(stderr);
});

test("a database stays intact when the tool is killed at a prompt", async () => {
  await using folder = await openFolder();
  const url = `file:${join(folder.path, "latchkey.db")}`;
  await using database = await openDatabase({ url });
  await database.migrate();
  const main = join(import.meta.dir, "../src/main.ts");
  const asked = Promise.withResolvers<void>();
  await using child = Bun.spawn([process.execPath, main, "users", "create", "ada@example.com", "-u", "ada"], {
    env: { PATH: process.env.PATH ?? "", DATABASE_URL: url },
    terminal: { cols: 80, rows: 24, data: () => asked.resolve() },
  });
  await asked.promise;
  child.kill("SIGKILL");
  await child.exited;
  await database.users.create({ email: "ada@example.com", username: "ada", hashedPassword: "salt$digest" });
  expect((await runTool(LIST, { env: { DATABASE_URL: url } })).stdout).toContain("ada@example.com");
});
