/** Writes the table of environment variables in the documents from their definitions: `bun scripts/configuration-tables.ts`. */
import { join } from "node:path";
import { defaultOf, descriptionOf, VARIABLE_NAMES, VARIABLES } from "@latchkey/config";
import { ROOT } from "./source-tree.ts";

export const DOCUMENT = join(ROOT, "docs/configuration.md");

/** One row per variable, in which a range without words is one of whole numbers. */
function variablesTable(): string {
  const rows = VARIABLE_NAMES.map((name) => {
    const accepted = VARIABLES[name].accepted.replace("a whole number from ", "");
    return `| \`${name}\` | ${defaultOf(name)} | ${accepted} | ${descriptionOf(name)} |\n`;
  });
  return `| Variable | Default | Accepted | Description |\n|---|---|---|---|\n${rows.join("")}`;
}

export const updateTable = (text: string): string =>
  text.replace(
    /(<!-- variables -->\n)[\s\S]*?(<!-- end of variables -->)/,
    (_, start: string, end: string) => `${start}\n${variablesTable()}\n${end}`,
  );

if (import.meta.main) await Bun.write(DOCUMENT, updateTable(await Bun.file(DOCUMENT).text()));
