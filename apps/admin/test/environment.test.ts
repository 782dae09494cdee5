/** Validation of environment variables. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openFolder } from "@latchkey/testing/folder";
import { runTool } from "./support/tool.ts";

const LIST = ["users", "list"];
const ROOT = pathToFileURL(resolve(import.meta.dir, "../../..")).href;

describe("DATABASE_URL", () => {
  test.each([
    ["has another scheme", { DATABASE_URL: "mysql://root:hunter2@db/x" }, "DATABASE_URL: is not supported"],
    ["is missing in production", { NODE_ENV: "production" }, "required in production"],
    [
      "is in a file that cannot be read",
      { DATABASE_URL_FILE: "/nowhere/url" },
      "DATABASE_URL_FILE: cannot be read",
    ],
  ])("results in a configuration error when it %s", async (_, env, message) => {
    for (const args of [["migrate"], LIST]) {
      const { code, stdout, stderr } = await runTool(args, { env });
      // A missing file is reported first.
      if (args === LIST && code === 69) continue;
      expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("hunter2");
    }
  });

  test("is resolved against the repository root in any working directory", async () => {
    await using folder = await openFolder();
    const options = { env: { DATABASE_URL: "file:./nowhere/latchkey.db" }, cwd: folder.path };
    const { code, stderr } = await runTool(LIST, options);
    expect(code).toBe(69);
    expect(stderr).toContain(fileURLToPath(`${ROOT}/nowhere/latchkey.db`));
    expect(existsSync(new URL(`${ROOT}/nowhere`))).toBe(false);
  });

  test("is not required by commands without a database", async () => {
    const env = { NODE_ENV: "production", HASH_WORKERS: "0", DATABASE_URL: "" };
    expect((await runTool(["secret", "generate"], { env })).code).toBe(0);
    expect((await runTool(["users", "--help"], { env })).code).toBe(0);
  });
});

test("HASH_KERNEL and HASH_WORKERS are reported together, one error per line", async () => {
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
