/** Standard output: aligned columns, valid JSON, and no control or format character on a terminal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { User } from "@latchkey/contracts";
import {
  DATABASES,
  type DatabaseSource,
  openSharedDatabase,
  type SharedDatabase,
} from "./support/databases.ts";
import { runInShell, runOnTerminal } from "./support/tool.ts";

let source: DatabaseSource;
beforeAll(async () => {
  source = await (DATABASES.libsql as () => Promise<DatabaseSource>)();
});
afterAll(() => source[Symbol.asyncDispose]());

/** Control characters, a bidi override and format characters within and beyond U+FFFF. */
const HOSTILE = "a\u001b[2J\u009b31m\u202e\r\n\u007f\u00ad\u200b\u{e0041}z";
const ESCAPED = "a\\u001b[2J\\u009b31m\\u202e\\u000d\\u000a\\u007f\\u00ad\\u200b\\udb40\\udc41z";

async function fill({ database }: SharedDatabase, usernames: readonly string[]): Promise<void> {
  for (const [index, username] of usernames.entries()) {
    await database.users.create({ email: `p${index}@example.com`, username, hashedPassword: "salt$digest" });
  }
}

describe("a table", () => {
  test("is aligned by display width, also with wide characters", async () => {
    await using shared = await openSharedDatabase(source);
    await fill(shared, ["ada", "日本語", "é", "someone with a long name"]);
    const { stdout } = await shared.tool(["users", "list"]);
    const [heading = "", ...rows] = stdout.trimEnd().split("\n");
    const widthBefore = (line: string, text: string) => Bun.stringWidth(line.slice(0, line.indexOf(text)));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(widthBefore(row, "true")).toBe(widthBefore(heading, "is_active"));
  });

  test("escapes control and format characters", async () => {
    await using shared = await openSharedDatabase(source);
    await fill(shared, [HOSTILE]);
    const { stdout } = await shared.tool(["users", "list"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain(ESCAPED);
    expect((await shared.tool(["users", "show", "1"])).stdout).toContain(ESCAPED);
  });

  test("without users has its headings", async () => {
    await using shared = await openSharedDatabase(source);
    const { stdout } = await shared.tool(["users", "list"]);
    expect(stdout).toBe(`${Object.keys(User.properties).join("  ")}\n`);
  });
});

test("a message of a confirmation, a deletion or an error escapes control and format characters", async () => {
  await using shared = await openSharedDatabase(source);
  await fill(shared, [HOSTILE]);
  const env = { DATABASE_URL: shared.url };
  const { screen } = await runOnTerminal(["users", "delete", "1"], [["[y/N] ", "n\r"]], { env });
  expect(screen).toContain(ESCAPED);
  expect((await shared.tool(["users", "delete", "1", "--yes"])).stdout).toContain(ESCAPED);
  const { stderr } = await shared.tool(["users", "admin\u200b"]);
  expect(stderr).toContain("admin\\u200b");
  expect(stderr.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("JSON keeps every character and contains no raw control or format character", async () => {
  await using shared = await openSharedDatabase(source);
  await fill(shared, [HOSTILE, '"quoted\\"', "日本語 😀"]);
  const { stdout } = await shared.tool(["users", "list", "--json"]);
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect((JSON.parse(stdout) as User[]).map(({ username }) => username)).toEqual([
    HOSTILE,
    '"quoted\\"',
    "日本語 😀",
  ]);
});

test.if(process.platform === "linux")(
  "standard output that cannot be written results in a message",
  async () => {
    await using shared = await openSharedDatabase(source);
    const full = await runInShell('"$@" > /dev/full', ["users", "list"], { DATABASE_URL: shared.url });
    expect(full).toEqual({ code: 1, stdout: "", stderr: "Cannot write to standard output (ENOSPC).\n" });
  },
);
