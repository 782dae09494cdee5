/** The documents' table of variables and `.env.example` agree with the definitions. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { VARIABLE_NAMES } from "@latchkey/config";
import { DOCUMENT, updateTable } from "./configuration-tables.ts";
import { ROOT } from "./source-tree.ts";

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

test(".env.example has only variables of Compose", async () => {
  const text = await Bun.file(join(ROOT, ".env.example")).text();
  const names = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  const compose = await Bun.file(join(ROOT, "docker-compose.yml")).text();
  const interpolated = [...compose.matchAll(/\$\{([A-Z_]+):/g)].map(([, name = ""]) => name);
  expect(names).toContain("COMPOSE_PROFILES");
  expect(names.filter((name) => !interpolated.includes(name))).toEqual([]);
});
