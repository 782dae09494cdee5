/** The documents' tables of variables and `.env.example` agree with the definitions. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { DOCUMENTS, updateTables } from "./configuration-tables.ts";
import { ROOT } from "./source-tree.ts";

test.each(DOCUMENTS)("%s is up to date; otherwise run bun scripts/configuration-tables.ts", async (path) => {
  const text = await Bun.file(path).text();
  expect(text).toContain("<!-- variables:");
  expect(text).toBe(updateTables(text));
});

test("a marker that names an undefined variable is an error", () => {
  const marked = (names: string) => `<!-- variables: ${names} -->\n<!-- end of variables -->`;
  expect(updateTables(marked("PORT"))).toContain("| `PORT` | `3000` |");
  expect(() => updateTables(marked("PORT PROT"))).toThrow("Undefined variables: PROT");
});

test(".env.example has only variables of Compose", async () => {
  const text = await Bun.file(join(ROOT, ".env.example")).text();
  const names = [...text.matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  const compose = await Bun.file(join(ROOT, "docker-compose.yml")).text();
  const interpolated = [...compose.matchAll(/\$\{([A-Z_]+):/g)].map(([, name = ""]) => name);
  expect(names).toContain("COMPOSE_PROFILES");
  expect(names.filter((name) => !interpolated.includes(name))).toEqual([]);
});
