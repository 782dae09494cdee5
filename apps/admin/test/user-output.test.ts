/** Standard output: aligned columns, valid JSON, and no control or format character on a terminal. */
import { expect, test } from "bun:test";
import { User } from "@latchkey/contracts";
import { openSharedDatabase } from "./support/shared-database.ts";
import { runOnTerminal } from "./support/tool.ts";

/** A control sequence, a bidi override, and a character that looks like a space. */
const HOSTILE = "a\u001b[2J\u202e\r\n\u3000z";
const ESCAPED = "a\\u001b[2J\\u202e\\u000d\\u000a\\u3000z";

test("a table is aligned by display width, also with wide characters; without users it has its headings", async () => {
  await using shared = await openSharedDatabase();
  const headings = [...Object.keys(User.properties), "roles"].join("  ");
  expect((await shared.tool(["users", "list"])).stdout).toBe(`${headings}\n`);
  await shared.insert(["ada", "日本語", "é", "someone with a long name"]);
  const { stdout } = await shared.tool(["users", "list"]);
  const [heading = "", ...rows] = stdout.trimEnd().split("\n");
  const widthBefore = (line: string, text: string) => Bun.stringWidth(line.slice(0, line.indexOf(text)));
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(widthBefore(row, "true")).toBe(widthBefore(heading, "is_active"));
});

test("tables, questions and messages escape control and format characters, and JSON keeps their values", async () => {
  await using shared = await openSharedDatabase();
  const usernames = [HOSTILE, '"quoted\\"', "日本語 😀", " bob  true "];
  await shared.insert(usernames);
  const { stdout } = await shared.tool(["users", "list", "--json"]);
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect((JSON.parse(stdout) as User[]).map(({ username }) => username)).toEqual(usernames);
  const table = (await shared.tool(["users", "list"])).stdout;
  expect([table, table.trimEnd().split("\n").length]).toEqual([expect.stringContaining(ESCAPED), 5]);
  expect(table).toContain("  \\u0020bob\\u0020 true\\u0020  ");
  expect((await shared.tool(["users", "show", "1"])).stdout).toContain(ESCAPED);
  const { screen } = await runOnTerminal(["users", "delete", "1"], [["[y/N] ", "n\r"]], shared.env);
  expect(screen).toContain(ESCAPED);
  expect((await shared.tool(["users", "delete", "1", "--yes"])).stdout).toContain(ESCAPED);
});
