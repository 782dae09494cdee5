/** Prints users with the members of the API's `User`, as aligned tables or as JSON. A password hash is never printed. */
import { printable, toJson, write } from "@latchkey/cli";
import { toUserWithRoles, UserWithRoles } from "@latchkey/contracts";
import type { User } from "@latchkey/database";

/** `json`: instead of a table. */
export type Format = { readonly json?: boolean };

const COLUMNS = Object.keys(UserWithRoles.properties);

/** Escapes unprintable characters, and spaces that imitate the end of a column. */
const toCell = (value: unknown): string => printable(String(value)).replaceAll(/^ | (?= |$)/g, "\\u0020");

const toRow = (members: Readonly<Record<string, unknown>>, names = Object.keys(members)): string[] =>
  names.map((name) => toCell(members[name]));

/** @param details printed after the members of the API */
export async function printUser(user: User, { json = false }: Format, details: object = {}): Promise<void> {
  const members = { ...toUserWithRoles(user), ...details };
  await write(json ? `${toJson(members)}\n` : createTable()([Object.keys(members), toRow(members)]));
}

/** Prints page by page; as JSON, one array with one user per line. */
export async function printUsers(pages: AsyncIterable<readonly User[]>, { json = false }: Format) {
  const formatRows = createTable();
  let isFirst = true;
  for await (const users of pages) {
    const members = users.map(toUserWithRoles);
    const rows = () => members.map((user) => toRow(user, COLUMNS));
    if (json) await write(`${isFirst ? "[" : ","}\n${members.map(toJson).join(",\n")}`);
    else await write(formatRows(isFirst ? [COLUMNS, ...rows()] : rows()));
    isFirst = false;
  }
  if (json) await write(isFirst ? "[]\n" : "\n]\n");
  else if (isFirst) await write(formatRows([COLUMNS]));
}

/** Formats a table that is printed in parts. Each part is aligned and at least as wide as the previous parts. */
function createTable() {
  const widths: number[] = [];
  return (rows: readonly (readonly string[])[]): string => {
    for (const row of rows)
      for (const [column, cell] of row.entries())
        widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell));
    const pad = (cell: string, column: number) =>
      cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
    return rows.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
  };
}
