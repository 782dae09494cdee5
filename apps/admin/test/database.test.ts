/** Databases that cannot be used, as the operator sees them, and the first commands on both kinds of databases. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { expectSentence, runTool, runToolAlone, startTool } from "./support/tool.ts";

const LIST = ["users", "list"];

test.each([
  ["is a file that does not exist", "file:missing/latchkey.db", "bun run migrate"],
  ["is unreachable", "postgres://latchkey:hunter2@127.0.0.1:1/latchkey", "unavailable"],
])(
  "a database that %s results in exit code 69; it is not created, and its password is not printed",
  async (_, url, message) => {
    await using folder = await openFolder();
    const env = { DATABASE_URL: url.replace("file:", `file:${folder.path}/`) };
    const { code, stdout, stderr } = await runTool(LIST, { env });
    expect([code, stdout, stderr]).toEqual([69, "", expect.stringContaining(message)]);
    expect(stderr).not.toContain("hunter2");
    expectSentence(stderr);
    expect(readdirSync(folder.path)).toEqual([]);
  },
);

test.each(["libsql", "postgres"])(
  "on %s, a missing schema results in a message that names migrate, which creates it for all commands",
  async (kind) => {
    await using folder = await openFolder();
    const server = kind === "postgres" ? await sharedPostgresServer() : null;
    // An empty file is a database without tables.
    await Bun.write(join(folder.path, "latchkey.db"), "");
    const DATABASE_URL = (await server?.createDatabase()) ?? folder.databaseUrl;
    const run = (args: readonly string[], input?: string) => runTool(args, { env: { DATABASE_URL }, input });
    const { code, stderr } = await run(LIST);
    expect([code, stderr]).toEqual([69, expect.stringContaining("bun run migrate")]);
    expectSentence(stderr);
    expect((await run(["migrate"])).code).toBe(0);
    expect(JSON.parse((await run(["migrate", "--json"])).stdout)).toEqual({
      database: kind,
      schema: "current",
    });

    const line = { email: "eve@example.com", username: "eve", password_hash: null };
    await run(["users", "import", "-", "--commit"], JSON.stringify(line));
    await run(["users", "create", "ada@example.org", "-u", "ada"], "correct horse battery staple");
    const deleted = await run(["users", "delete", "--domain", "example.com", "--yes"]);
    expect(deleted.stdout).toBe("Deleted 1 users of example.com.\n");
    expect(JSON.parse((await run([...LIST, "--json"])).stdout)).toMatchObject([{ username: "ada" }]);
    const file = join(folder.path, "users.jsonl");
    expect((await run(["users", "export", file])).stdout).toMatch(/^users +1\n$/);
  },
);

test.each([
  [["migrate"]],
  [["users", "list"]],
  [["users", "delete", "nobody@example.com", "--yes"]],
  [["backup", "-"]],
])("after %j, the file alone is the whole database, also if the service crashed before", async (args) => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: folder.databaseUrl };
  await runToolAlone(["migrate"], { env });
  const file = join(folder.path, "latchkey.db");
  // As the service leaves the file if it is killed: a part of the content is only in the write-ahead log.
  const kill = `
    const sqlite = new (require("bun:sqlite").Database)(${JSON.stringify(file)});
    sqlite.run("insert into todos (title) values ('written')");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", kill]).exited;
  expect(Bun.file(`${file}-wal`).size).toBeGreaterThan(0);
  await startTool(args, { env });
  expect(Bun.file(`${file}-wal`).size).toBe(0);
  const copy = join(folder.path, "copy.db");
  await copyFile(file, copy);
  expect(await querySqlite<unknown>(`file:${copy}`, "select title from todos")).toEqual([
    { title: "written" },
  ]);
});
