/** The documents' table of variables agrees with the definitions. */
import { expect, test } from "bun:test";
import { VARIABLE_NAMES } from "@latchkey/config";
import { DOCUMENT, updateTable } from "./configuration-tables.ts";

test("docs/configuration.md is up to date; otherwise run bun scripts/configuration-tables.ts", async () => {
  const text = await Bun.file(DOCUMENT).text();
  expect(text).toContain("| `PORT` | `3000` |");
  expect(text).toBe(updateTable(text));
});

test("the table has one row per variable, and names the file of a secret", () => {
  const table = updateTable("<!-- variables -->\n<!-- end of variables -->");
  expect(table.match(/^\| `/gm)).toHaveLength(VARIABLE_NAMES.length);
  expect(table).toContain("`REDIS_URL_FILE`");
});
