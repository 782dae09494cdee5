/** Validation of environment variables. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { runTool } from "./support/tool.ts";

const LIST = ["users", "list"];

test.each([
  ["has another scheme", { DATABASE_URL: "mysql://root:hunter2@db/x" }, "DATABASE_URL: is not supported"],
  ["is missing in production", { NODE_ENV: "production" }, "required in production"],
  [
    "is in a file that does not exist",
    { DATABASE_URL_FILE: "/nowhere" },
    "DATABASE_URL_FILE: cannot be read",
  ],
])("exit code 78 and no password if DATABASE_URL %s", async (_, env, message) => {
  const { code, stdout, stderr } = await runTool(LIST, { env });
  expect([code, stdout, stderr]).toEqual([78, "", expect.stringContaining(message)]);
  expect(stderr).not.toContain("hunter2");
});

test("DATABASE_URL is resolved against the repository root in any working directory", async () => {
  await using folder = await openFolder();
  const env = { DATABASE_URL: "file:./nowhere/latchkey.db" };
  const { code, stderr } = await runTool(LIST, { env, cwd: folder.path });
  expect(code).toBe(69);
  expect(stderr).toContain(join(ROOT, "nowhere/latchkey.db"));
  expect(existsSync(join(ROOT, "nowhere"))).toBe(false);
});

test("commands without a database do not require its URL", async () => {
  const env = { NODE_ENV: "production", HASH_WORKERS: "0", DATABASE_URL: "" };
  expect((await runTool(["secret", "generate"], { env })).code).toBe(0);
});

test("HASH_KERNEL and HASH_WORKERS are reported together, one error per line", async () => {
  const env = { HASH_KERNEL: "abacus", HASH_WORKERS: "none" };
  const { code, stdout, stderr } = await runTool(["hash", "bench"], { env });
  expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
  expect(stderr).toMatch(
    /^HASH_KERNEL: "abacus" is not supported on this machine; accepted: auto, .*portable\nHASH_WORKERS: "none" .*\n$/,
  );
});
