/** Prints users as aligned tables or as JSON, with the members of the API. Password hashes are never printed. */
import { printable, toJson, write } from "@latchkey/cli";
import { toDetailedUser, toIdentity, toPasskey, User as UserShape } from "@latchkey/contracts";
import type { Database, User } from "@latchkey/database";

/** `json`: prints JSON instead of a table. */
export type Format = { readonly json?: boolean };

/** A list of users has no room for claims. */
const COLUMNS = [...Object.keys(UserShape.properties), "roles"];

/** Escapes unprintable characters, and spaces that would look like the gap between two columns. */
const toCell = (value: unknown): string => printable(textOf(value)).replaceAll(/^ | (?= |$)/g, "\\u0020");

/** Claims are the only object. */
const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? JSON.stringify(value)
    : String(value);

const toRow = (members: Readonly<Record<string, unknown>>, names = Object.keys(members)): string[] =>
  names.map((name) => toCell(members[name]));

/** @param details additional members, which are printed after the members of the API */
export async function printUser(user: User, { json = false }: Format, details: object = {}): Promise<void> {
  const members = { ...toDetailedUser(user), ...details };
  await write(json ? `${toJson(members)}\n` : createTable()([Object.keys(members), toRow(members)]));
}

/** The passkeys and identities of a user: for JSON as objects, otherwise only their names or providers, and dates. */
export async function describeLogins(database: Database, { id }: User, { json = false }: Format) {
  const withDate = (name: string, createdAt: string) => `${name} (${createdAt.slice(0, 10)})`;
  const passkeys = (await database.passkeys.list(id)).map((passkey) =>
    json ? toPasskey(passkey) : withDate(passkey.name, passkey.createdAt),
  );
  const identities = (await database.identities.list(id)).map((identity) => {
    const { provider, createdAt, issuer, subject } = identity;
    return json ? { ...toIdentity(identity), issuer, subject } : withDate(provider, createdAt);
  });
  return { passkeys, identities };
}

/** Prints the users page by page. The JSON is one array, with one user per line. */
export async function printUsers(pages: AsyncIterable<readonly User[]>, { json = false }: Format) {
  const formatRows = createTable();
  let isFirst = true;
  for await (const users of pages) {
    // A table has no room for the time of the latest login and the claims.
    const members = users.map((user) => ({ ...toDetailedUser(user), last_login_at: user.lastLoginAt }));
    const rows = () => members.map((user) => toRow(user, COLUMNS));
    if (json) await write(`${isFirst ? "[" : ","}\n${members.map(toJson).join(",\n")}`);
    else await write(formatRows(isFirst ? [COLUMNS, ...rows()] : rows()));
    isFirst = false;
  }
  if (json) await write(isFirst ? "[]\n" : "\n]\n");
  else if (isFirst) await write(formatRows([COLUMNS]));
}

/** Returns a function that formats the next part of a table. Columns never become narrower. */
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
