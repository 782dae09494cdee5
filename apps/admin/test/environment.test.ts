/** Validation of environment variables. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ADMIN_MAIN, ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { runTool } from "./support/tool.ts";

test("a database URL, also in a file, is resolved against the repository root in any working directory", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL_FILE: join(folder.path, "database-url") };
  await Bun.write(env.DATABASE_URL_FILE, "file:./nowhere/latchkey.db\n");
  const { code, stderr } = await runTool(["users", "list"], { env });
  expect([code, stderr]).toEqual([69, expect.stringContaining(join(ROOT, "nowhere/latchkey.db"))]);
  expect(existsSync(join(ROOT, "nowhere"))).toBe(false);
});

test("a value that Bun changes in .env is a warning that names the variable", async () => {
  await using folder = await openFolder();
  await Bun.write(join(folder.path, ".env"), `DATABASE_URL='${folder.databaseUrl}$x'\n`);
  const command = [process.execPath, ADMIN_MAIN, "migrate"];
  const { code, stderr } = await runProcess(command, { cwd: folder.path, env: {} });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^DATABASE_URL contains a \$ in \.env, /)]);
});

test("all errors of the variables that a command uses are reported together, one per line, and no others", async () => {
  const env = { HASH_KERNEL: "abacus", HASH_WORKERS: "none", DATABASE_URL: "unused" };
  const { code, stdout, stderr } = await runTool(["hash", "bench"], { env });
  expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
  expect(stderr).toMatch(
    /^HASH_KERNEL: "abacus" is not supported on this machine; accepted: auto, .*portable\nHASH_WORKERS: "none" .*\n$/,
  );
});

test("a parameter of the database URL that the service does not support is a configuration error", async () => {
  const env = { DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/d?target_session_attrs=read-write" };
  for (const command of [["users", "list"], ["migrate"]]) {
    const { code, stderr } = await runTool(command, { env });
    expect([code, stderr]).toEqual([78, expect.stringContaining("parameters: target_session_attrs.")]);
    expect(stderr).not.toContain("hunter2");
  }
});
