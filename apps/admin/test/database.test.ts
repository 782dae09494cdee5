/** Databases that cannot be used, as the operator sees them, and the first commands on both kinds of databases. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
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

test("a database results in exit code 69 when it is unreachable, without printing its password", async () => {
  const env = { DATABASE_URL: "postgres://latchkey:hunter2@127.0.0.1:1/latchkey" };
  for (const args of [LIST, ["migrate"]]) {
    const { code, stdout, stderr } = await runTool(args, { env });
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).not.toContain("hunter2");
    expectSentence(stderr);
  }
});

test.each(["libsql", "postgres"])(
  "on %s, a missing schema results in a message that names migrate, which creates it for all commands",
  async (kind) => {
    await using folder = await openFolder();
    await using server = kind === "postgres" ? await startPostgresServer() : null;
    // An empty file is a database without tables.
    await Bun.write(join(folder.path, "latchkey.db"), "");
    const DATABASE_URL = (await server?.createDatabase()) ?? folder.databaseUrl;
    const run = (args: readonly string[], input?: string) =>
      runTool(args, { env: { DATABASE_URL }, ...(input !== undefined && { input }) });
    const before = await run(LIST);
    expect(before).toMatchObject({ code: 69, stdout: "" });
    expect(before.stderr).toContain("bun run migrate");
    expectSentence(before.stderr);
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
