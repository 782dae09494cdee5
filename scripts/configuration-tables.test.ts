/** The documents' list of variables agrees with the definitions. */
import { expect, test } from "bun:test";
import { VARIABLE_NAMES } from "@latchkey/config";
import { DOCUMENT, updateList } from "./configuration-tables.ts";

test("docs/configuration.md is up to date; otherwise run bun scripts/configuration-tables.ts", async () => {
  const text = await Bun.file(DOCUMENT).text();
  expect(text).toContain("- `PORT` (`3000`; 0 to 65535)");
  expect(text).toBe(updateList(text));
});

test("the list has one item per variable, and marks a secret, which can be in a file", () => {
  const list = updateList("<!-- variables -->\n<!-- end of variables -->");
  expect(list.match(/^- `/gm)).toHaveLength(VARIABLE_NAMES.length);
  expect(list).toContain("- `REDIS_URL`† (");
});
