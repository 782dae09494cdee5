/** Writes the list of environment variables in the documents from their definitions: `bun scripts/configuration-tables.ts`. */
import { join } from "node:path";
import { defaultOf, VARIABLE_NAMES, VARIABLES } from "@latchkey/config";
import { ROOT } from "./source-tree.ts";

export const DOCUMENT = join(ROOT, "docs/configuration.md");

/** One item per variable. A range without words is one of whole numbers. */
function variablesList(): string {
  const items = VARIABLE_NAMES.map((name) => {
    const { accepted, description, ...options } = VARIABLES[name];
    const canBeFile = "secret" in options || "file" in options;
    const values = accepted === "true or false" ? [] : [accepted.replace("a whole number from ", "")];
    const item = `- \`${name}\`${canBeFile ? "†" : ""} (${[defaultOf(name), ...values].join("; ")}): ${description}\n`;
    return item.replaceAll("<", "\\<");
  });
  return items.join("");
}

export const updateList = (text: string): string =>
  text.replace(
    /(<!-- variables -->\n)[\s\S]*?(<!-- end of variables -->)/,
    (_, start: string, end: string) => `${start}\n${variablesList()}\n${end}`,
  );

if (import.meta.main) await Bun.write(DOCUMENT, updateList(await Bun.file(DOCUMENT).text()));
