/** What the environment may be, and what the operator hears when it or the database is not right. */
import { Database as Sqlite } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openDatabase } from "@latchkey/database";
import { expectSentence, openFolder, runTool } from "./tool.ts";

const LIST = ["users", "list"];
const ROOT = pathToFileURL(resolve(import.meta.dir, "../../..")).href;

describe("DATABASE_URL", () => {
  test.each([
    ["is empty", { DATABASE_URL: "" }, "DATABASE_URL: is empty; accepted: file:PATH"],
    [
      "has another scheme",
      { DATABASE_URL: "mysql://root:hunter2@db/x" },
      "DATABASE_URL: has an unsupported value",
    ],
    ["has no scheme", { DATABASE_URL: "./data/latchkey.db" }, "accepted: file:PATH"],
    ["is no file URL", { DATABASE_URL: "file:///tmp/x.db?mode=hunter2" }, "Unsupported database URL"],
    ["is absent in production", { NODE_ENV: "production" }, "is required in production"],
    ["is set twice", { DATABASE_URL: "file:x.db", DATABASE_URL_FILE: "/x" }, "accepted: one of the two"],
    [
      "is in a file that cannot be read",
      { DATABASE_URL_FILE: "/nowhere/url" },
      "DATABASE_URL_FILE: cannot be read",
    ],
  ])("is a configuration fault when it %s", async (_, env, says) => {
    for (const args of [["migrate"], LIST]) {
      const { code, stdout, stderr } = await runTool(args, { env });
      // Whether a file is there is asked first.
      if (args === LIST && code === 69) continue;
      expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
      expect(stderr).toContain(says);
      expect(stderr).not.toContain("hunter2");
    }
  });

  test("may be in a file, whose line end is cut off", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "database-url");
    await Bun.write(path, `file:${join(folder.path, "latchkey.db")}\n`);
    expect((await runTool(["migrate"], { env: { DATABASE_URL_FILE: path } })).code).toBe(0);
    expect(existsSync(join(folder.path, "latchkey.db"))).toBe(true);
  });

  test("is relative to the repository's root, wherever the tool is started", async () => {
    await using folder = await openFolder();
    const options = { env: { DATABASE_URL: "file:./nowhere/latchkey.db" }, cwd: folder.path };
    const { code, stderr } = await runTool(LIST, options);
    expect(code).toBe(69);
    expect(stderr).toContain(fileURLToPath(`${ROOT}/nowhere/latchkey.db`));
    expect(existsSync(new URL(`${ROOT}/nowhere`))).toBe(false);
  });

  test("is not needed by commands without a database", async () => {
    const env = { NODE_ENV: "production", HASH_WORKERS: "0", DATABASE_URL: "" };
    expect((await runTool(["secret", "generate"], { env })).code).toBe(0);
    expect((await runTool(["users", "--help"], { env })).code).toBe(0);
  });
});

describe("HASH_KERNEL and HASH_WORKERS", () => {
  test("are both told of at once, each on a line of its own", async () => {
    const env = { HASH_KERNEL: "abacus", HASH_WORKERS: "none" };
    const { code, stdout, stderr } = await runTool(["hash", "bench"], { env });
    expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(
        /^HASH_KERNEL: "abacus" is not supported on this machine; accepted: auto, .*portable/,
      ),
      'HASH_WORKERS: "none" is not valid; accepted: a whole number from 1 to 1024',
      "",
    ]);
  });

  test.each(["", "0", "1025", "1.5", "1e2", "02", "-1"])("HASH_WORKERS cannot be %p", async (text) => {
    expect((await runTool(["hash", "bench"], { env: { HASH_WORKERS: text } })).code).toBe(78);
  });
});

describe("the database", () => {
  test("is not made by a path with a slip in it", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "missing", "latchkey.db");
    const { code, stdout, stderr } = await runTool(LIST, { env: { DATABASE_URL: `file:${path}` } });
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).toContain("bun run migrate");
    expectSentence(stderr);
    expect(existsSync(join(folder.path, "missing"))).toBe(false);
  });

  test("that is no database is a database fault", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "latchkey.db");
    await Bun.write(path, "This file holds something else, for more than a hundred bytes. ".repeat(40));
    const { code, stderr } = await runTool(LIST, { env: { DATABASE_URL: `file:${path}` } });
    expect(code).toBe(69);
    expect(stderr).toContain("SQLITE_NOTADB");
    expectSentence(stderr);
  });

  test("that does not answer is a database fault, and its password is not shown", async () => {
    const env = { DATABASE_URL: "postgres://latchkey:hunter2@127.0.0.1:1/latchkey" };
    for (const args of [LIST, ["migrate"]]) {
      const { code, stdout, stderr } = await runTool(args, { env });
      expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
      expect(stderr).not.toContain("hunter2");
      expectSentence(stderr);
    }
  });

  test("of a newer release is not migrated", async () => {
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
  });

  test("whose write lock another process keeps is read, and not written", async () => {
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

  test("is left in one piece by a tool that is killed while it asks", async () => {
    await using folder = await openFolder();
    const url = `file:${join(folder.path, "latchkey.db")}`;
    await using database = await openDatabase({ url });
    await database.migrate();
    const main = join(import.meta.dir, "../src/main.ts");
    const asked = Promise.withResolvers<void>();
    await using child = Bun.spawn(
      [process.execPath, main, "users", "create", "ada@example.com", "-u", "ada"],
      {
        env: { PATH: process.env.PATH ?? "", DATABASE_URL: url },
        terminal: { cols: 80, rows: 24, data: () => asked.resolve() },
      },
    );
    await asked.promise;
    child.kill("SIGKILL");
    await child.exited;
    await database.users.create({ email: "ada@example.com", username: "ada", hashedPassword: "salt$digest" });
    expect((await runTool(LIST, { env: { DATABASE_URL: url } })).stdout).toContain("ada@example.com");
  });
});
