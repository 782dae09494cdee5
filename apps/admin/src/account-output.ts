/** Accounts as the operator sees them: the members of the API's read shape, and never a password's hash. */
import type { User as Shape } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { Table, toJson, write } from "./output.ts";

export interface Format {
  /** JSON instead of a table. */
  readonly json?: boolean;
}

const COLUMNS = [
  "id",
  "email",
  "username",
  "is_active",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof Shape)[];

/** Member by member: a new column is never shown by itself. */
const toShape = (user: User): Shape => ({
  id: user.id,
  email: user.email,
  username: user.username,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});

const toRow = (user: User): string[] => {
  const shape = toShape(user);
  return COLUMNS.map((column) => String(shape[column]));
};

export async function printAccount(user: User, { json = false }: Format): Promise<void> {
  await write(json ? `${toJson(toShape(user))}\n` : new Table(COLUMNS).begin([toRow(user)]));
}

/** Prints page by page; as JSON, one array with an account on each line. */
export async function printAccounts(
  pages: AsyncIterable<readonly User[]>,
  { json = false }: Format,
): Promise<void> {
  const table = new Table(COLUMNS);
  let isFirst = true;
  for await (const users of pages) {
    if (json) {
      const lines = users.map((user) => toJson(toShape(user))).join(",\n");
      await write(isFirst ? `[\n${lines}` : `,\n${lines}`);
    } else {
      const rows = users.map(toRow);
      await write(isFirst ? table.begin(rows) : table.rows(rows));
    }
    isFirst = false;
  }
  if (json) await write(isFirst ? "[]\n" : "\n]\n");
  else if (isFirst) await write(table.begin([]));
}
