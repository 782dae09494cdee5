/** Errors of databases that cannot be used, as the operator sees them. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
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

test("a database results in exit code 69 when it is unreachable, without printing its password", async () => {
  const env = { DATABASE_URL: "postgres://latchkey:hunter2@127.0.0.1:1/latchkey" };
  for (const args of [LIST, ["migrate"]]) {
    const { code, stdout, stderr } = await runTool(args, { env });
    expect({ code, stdout }).toEqual({ code: 69, stdout: "" });
    expect(stderr).not.toContain("hunter2");
    expectSentence(stderr);
  }
});
