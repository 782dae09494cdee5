/** The numbers of users, counted in slices. A user who changes during a count is counted in either state. */
import { and, asc, count, gt, isNotNull, max, type SQL, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { NO_PASSWORD } from "../passwords.ts";
import { isInactive } from "../tables.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { readSlices, SLICE_ROWS } from "./slices.ts";

export interface UserTotals {
  readonly users: number;
  readonly inactive: number;
  /** Users who logged in since the given time. */
  readonly recent: number;
  readonly secondFactors: number;
}

export interface UserCounts {
  /** @param signal ends the count. @throws its reason */
  countTotals(recentSeconds: number, signal?: AbortSignal): Promise<UserTotals>;
  /**
   * Counts the users with the hash of another system by format.
   * @param signal ends the count. @throws its reason
   */
  countImported(
    formatOf: (importedHash: string) => string,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, number>>;
}

const given = placeholders("after");

/** Counts the next users in the order of ids. */
export function totalsQuery(orm: Orm, { tables: { users }, later }: Dialect, recentSeconds: number) {
  const { id, isActive, lastLoginAt, factorId } = users;
  const sumOf = (condition: SQL) =>
    sql<number | string>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`;
  const next = orm.select({ id, isActive, lastLoginAt, factorId }).from(users).where(gt(id, given.after));
  const slice = next.orderBy(asc(id)).limit(SLICE_ROWS).as("slice");
  return orm
    .select({
      last: max(slice.id),
      users: count(),
      inactive: sumOf(isInactive(slice.isActive)),
      recent: sumOf(sql`${slice.lastLoginAt} > ${later(-recentSeconds)}`),
      secondFactors: sumOf(isNotNull(slice.factorId)),
    })
    .from(slice);
}

/** Selects the next imported hashes in the order of ids, also those that mean that the user has no password. */
export function importedQuery(orm: Orm, { tables: { users } }: Dialect) {
  const { id, importedHash } = users;
  const next = orm.select({ id, importedHash }).from(users);
  return next
    .where(and(gt(id, given.after), isNotNull(importedHash)))
    .orderBy(asc(id))
    .limit(SLICE_ROWS);
}

export function createUserCounts({ orm, prepare }: RepositoryClient, dialect: Dialect): UserCounts {
  const nextImported = prepare(importedQuery(orm, dialect));

  return {
    countTotals: async (recentSeconds, signal) => {
      const totals = { users: 0, inactive: 0, recent: 0, secondFactors: 0 };
      const countNext = prepare(totalsQuery(orm, dialect, recentSeconds));
      const read = async (after: number) => {
        const [slice] = await countNext({ after });
        if (!slice?.last) return null;
        for (const name of ["users", "inactive", "recent", "secondFactors"] as const)
          totals[name] += Number(slice[name]);
        return Number(slice.last);
      };
      await readSlices(0, read, signal);
      return totals;
    },
    countImported: async (formatOf, signal) => {
      const counts = new Map<string, number>();
      const read = async (after: number) => {
        const slice = await nextImported({ after });
        for (const { importedHash } of slice) {
          if (importedHash === null || importedHash === NO_PASSWORD) continue;
          const format = formatOf(importedHash);
          counts.set(format, (counts.get(format) ?? 0) + 1);
        }
        return slice.at(-1)?.id ?? null;
      };
      await readSlices(0, read, signal);
      return counts;
    },
  };
}
