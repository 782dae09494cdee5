/** Writes the tables of environment variables in the documents from their definitions: `bun scripts/configuration-tables.ts`. */
import { join } from "node:path";
import { VARIABLE_NAMES, type VariableName, variablesTable } from "@latchkey/config";
import { ROOT } from "./source-tree.ts";

export const DOCUMENTS = ["README.md", "docs/configuration.md"].map((path) => join(ROOT, path));

/** A table between its markers. The first marker lists the variables; without a list, the table has all of them. */
const TABLE = /(<!-- variables:(.*) -->\n)[\s\S]*?(<!-- end of variables -->)/g;

/** @throws {RangeError} if a marker names a variable that is not defined */
export const updateTables = (text: string): string =>
  text.replace(
    TABLE,
    (_, start: string, names: string, end: string) =>
      `${start}\n${variablesTable(parseNames(names))}\n${end}`,
  );

function parseNames(list: string): readonly VariableName[] {
  const names = list.split(" ").filter((name) => name !== "");
  const isDefined = (name: string): name is VariableName => VARIABLE_NAMES.some((known) => known === name);
  const undefinedNames = names.filter((name) => !isDefined(name));
  if (undefinedNames.length > 0) throw new RangeError(`Undefined variables: ${undefinedNames.join(", ")}`);
  return names.length === 0 ? VARIABLE_NAMES : names.filter(isDefined);
}

if (import.meta.main) {
  for (const path of DOCUMENTS) await Bun.write(path, updateTables(await Bun.file(path).text()));
}
