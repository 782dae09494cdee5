/** Standard output: columns that line up, JSON that is whole, and no control character on anybody's terminal. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { openShared, type Shared, SITES, type Site } from "./databases.ts";
import { runInShell, runOnTerminal } from "./tool.ts";

let site: Site;
beforeAll(async () => {
  site = await (SITES.libsql as () => Promise<Site>)();
});
afterAll(() => site[Symbol.asyncDispose]());

const HOSTILE = "a\u001b[2J\u009b31m\u202e\r\n\u007fz";

async function fill({ database }: Shared, usernames: readonly string[]): Promise<void> {
  for (const [index, username] of usernames.entries()) {
    await database.users.create({ email: `p${index}@example.com`, username, hashedPassword: "salt$digest" });
  }
}

describe("a table", () => {
  test("is aligned by the width of what is shown, wide characters too", async () => {
    await using shared = await openShared(site);
    await fill(shared, ["ada", "日本語", "é", "someone with a long name"]);
    const { stdout } = await shared.tool(["users", "list"]);
    const [heading = "", ...rows] = stdout.trimEnd().split("\n");
    const widthBefore = (line: string, text: string) => Bun.stringWidth(line.slice(0, line.indexOf(text)));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(widthBefore(row, "true")).toBe(widthBefore(heading, "is_active"));
  });

  test("shows control characters as escapes, on a terminal too", async () => {
    await using shared = await openShared(site);
    await fill(shared, [HOSTILE]);
    const shown = "a\\u001b[2J\\u009b31m\\u202e\\u000d\\u000a\\u007fz";
    const { stdout } = await shared.tool(["users", "list"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain(shown);
    const env = { DATABASE_URL: shared.url };
    const { screen } = await runOnTerminal(["users", "delete", "1"], [["[y/N] ", "n\r"]], { env });
    expect(screen).toContain(shown);
  });

  test("of nobody has its headings", async () => {
    await using shared = await openShared(site);
    const { stdout } = await shared.tool(["users", "list"]);
    expect(stdout).toBe("id  email  username  is_active  created_at  updated_at\n");
  });
});

describe("JSON", () => {
  test("keeps every character and holds no raw control character", async () => {
    await using shared = await openShared(site);
    await fill(shared, [HOSTILE, '"quoted\\"', "日本語 😀"]);
    const { stdout } = await shared.tool(["users", "list", "--json"]);
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect((JSON.parse(stdout) as User[]).map(({ username }) => username)).toEqual([
      HOSTILE,
      '"quoted\\"',
      "日本語 😀",
    ]);
  });

  test("of nobody is an empty array", async () => {
    await using shared = await openShared(site);
    expect(await shared.json<User[]>(["users", "list"])).toEqual([]);
  });
});

describe("a reader", () => {
  test("that has seen enough is no failure, and one that is slow gets everything", async () => {
    await using shared = await openShared(site);
    // Twice what a pipe holds, and more than a page.
    const usernames = Array.from({ length: 700 }, (_, index) => `a person with number ${index}`);
    await fill(shared, usernames);
    const env = { DATABASE_URL: shared.url };
    const list = ["users", "list", "--json"];
    const head = await runInShell('{ "$@"; echo "code $?" >&2; } | head -n 2', list, env);
    expect(head.stderr).toBe("code 0\n");
    const slow = await runInShell(
      '"$@" | { read -r line; echo "$line"; while read -r line; do echo "$line"; done; }',
      list,
      env,
    );
    expect(JSON.parse(slow.stdout)).toHaveLength(usernames.length);
  });

  test.if(process.platform === "linux")("that takes nothing is told of in a sentence", async () => {
    await using shared = await openShared(site);
    const full = await runInShell('"$@" > /dev/full', ["users", "list"], { DATABASE_URL: shared.url });
    expect(full).toEqual({ code: 1, stdout: "", stderr: "Standard output cannot be written (ENOSPC).\n" });
  });
});
