import type { AdminStats } from "@latchkey/contracts";
import type { UserRepository } from "@latchkey/database";
import { listUsers } from "./list-users.ts";

const ACTIVE_SECONDS = 30 * 24 * 60 * 60;

/** Counts all users. @param formatOf returns the format of an imported hash */
export async function countUsers(
  users: UserRepository,
  formatOf: (importedHash: string) => string,
): Promise<AdminStats> {
  const totals = await users.countTotals(ACTIVE_SECONDS);
  const imported: Record<string, number> = {};
  for await (const page of listUsers(users, { isImported: true }))
    for (const { importedHash } of page) {
      const format = formatOf(importedHash ?? "");
      imported[format] = (imported[format] ?? 0) + 1;
    }
  return { users: totals.users, inactive: totals.inactive, active_30_days: totals.recent, imported };
}
