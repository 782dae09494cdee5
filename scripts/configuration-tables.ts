/** Writes the table of environment variables in the documents from their definitions: `bun scripts/configuration-tables.ts`. */
import { join } from "node:path";
import { variablesTable } from "@latchkey/config";
import { ROOT } from "./source-tree.ts";

export const DOCUMENT = join(ROOT, "docs/configuration.md");

export const updateTable = (text: string): string =>
  text.replace(
    /(<!-- variables -->\n)[\s\S]*?(<!-- end of variables -->)/,
    (_, start: string, end: string) => `${start}\n${variablesTable()}\n${end}`,
  );

if (import.meta.main) await Bun.write(DOCUMENT, updateTable(await Bun.file(DOCUMENT).text()));
