/**
 * What an operator reads about users. Invariant: no query of the service reads more rows than its page needs by much, however many
 * users there are: the embedded database blocks the whole service while it reads.
 */
import { emailForms } from "@latchkey/contracts";
import {
  type AnyColumn,
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  max,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { hasRoles, isInactive, type User } from "../tables.ts";
import { NO_PASSWORD } from "./imports.ts";
import type { PageRequest, RepositoryClient } from "./repository-client.ts";

/** Selects the users that meet all conditions. A condition that is undefined is met by every user. */
export interface UserSearch extends PageRequest {
  /** This address, in any of its forms (`emailForms`). */
  readonly email?: string | undefined;
  /** This domain of the e-mail in lower case, in any of its forms. No index finds these users. */
  readonly domain?: string | undefined;
  /** The beginning of the e-mail or of the username. The case of usernames is ignored by the rules of the database. */
  readonly search?: string | undefined;
  /** A part of the e-mail or of the username. Only the case of ASCII letters is ignored. No index finds these users. */
  readonly contains?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly role?: string | undefined;
  readonly isWithoutPassword?: boolean | undefined;
  /** true: only users with the hash of another system. false: all users. */
  readonly isImported?: boolean | undefined;
}

/** How many logins with something else than a password a user has, and from how many networks. */
export interface LoginMeans {
  readonly passkeys: number;
  readonly identities: number;
  readonly networks: number;
}

export interface UserTotals {
  readonly users: number;
  readonly inactive: number;
  /** Users who logged in since the given time. */
  readonly recent: number;
}

/** If more texts begin with the searched one, a walk over all users in the order of ids finds a page sooner. */
const MAX_INDEXED_MATCHES = 5_000;
const LAST_CHARACTER = "\u{10FFFF}";
/** The users that one query counts. */
const COUNTED_AT_ONCE = 50_000;

export interface UserSearches {
  /** Returns a page in ascending order of ids. */
  list(request: UserSearch): Promise<User[]>;
  /** @param networkSeconds networks that were stored earlier are not counted */
  countLoginMeans(ids: readonly number[], networkSeconds: number): Promise<Map<number, LoginMeans>>;
  /** Counts all users, in queries that are short each. */
  countTotals(recentSeconds: number): Promise<UserTotals>;
}

const prefixRanges = ({ tables: { users }, binary }: Dialect, prefix: string) => {
  const [email, username] = [binary(sql`${users.email}`), binary(sql`lower(${users.username})`)];
  const [first, last] = [sql`lower(${prefix})`, sql`lower(${prefix}) || ${LAST_CHARACTER}`];
  return {
    email: sql`(${email} >= ${first} and ${email} < ${last})`,
    username: sql`(${username} >= ${first} and ${username} < ${last})`,
  };
};

/** A pattern that matches the text literally. */
const escapeLike = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");
const isLike = (text: SQLWrapper, pattern: SQLWrapper | string) => sql`${text} like ${pattern} escape '!'`;

/** Counts the matches of each index, but no more than `MAX_INDEXED_MATCHES`. */
export function matchesQuery(orm: Orm, dialect: Dialect, prefix: string) {
  const { users } = dialect.tables;
  const countUpTo = (range: SQL) =>
    sql<
      number | string
    >`(select count(*) from (select 1 from ${users} where ${range} limit ${MAX_INDEXED_MATCHES}) as matches)`;
  const { email, username } = prefixRanges(dialect, prefix);
  return orm
    .select({ emails: countUpTo(email), usernames: countUpTo(username) })
    .from(sql`(select 1) as one`);
}

/** @param isCommon whether so many users match the prefix that the indexes are not used for it */
export function searchQuery(orm: Orm, dialect: Dialect, request: UserSearch, isCommon: boolean) {
  const { tables, isReturnedBy } = dialect;
  const { users } = tables;
  const { after, limit, email, domain, search, contains, isActive } = request;
  const { role, isWithoutPassword, isImported } = request;
  const conditions = [gt(users.id, after)];
  if (email !== undefined) conditions.push(inArray(users.email, emailForms(email)));
  if (domain !== undefined) {
    const patterns = emailForms(`@${domain}`).map((form) => `%${escapeLike(form)}`);
    conditions.push(sql`(${or(...patterns.map((pattern) => isLike(sql`${users.email}`, pattern)))})`);
  }
  if (contains !== undefined) {
    const pattern = sql`lower(${`%${escapeLike(contains)}%`})`;
    const [inEmail, inUsername] = [users.email, users.username].map((text) =>
      isLike(sql`lower(${text})`, pattern),
    );
    conditions.push(sql`(${inEmail} or ${inUsername})`);
  }
  if (search !== undefined) {
    const ranges = prefixRanges(dialect, search);
    const ids = (range: SQL) => sql`select ${users.id} from ${users} where ${range}`;
    const found = sql`${users.id} ${isReturnedBy(sql`${ids(ranges.email)} union ${ids(ranges.username)}`)}`;
    conditions.push(isCommon ? sql`(${ranges.email} or ${ranges.username})` : found);
  }
  if (isActive !== undefined)
    conditions.push(isActive ? eq(users.isActive, true) : isInactive(users.isActive));
  if (role !== undefined)
    conditions.push(
      hasRoles(users.roles),
      isLike(sql`${users.roles}`, `%${escapeLike(JSON.stringify(role))}%`),
    );
  if (isWithoutPassword !== undefined) {
    const comparison = sql.raw(isWithoutPassword ? "=" : "is distinct from");
    conditions.push(sql`${users.importedHash} ${comparison} ${NO_PASSWORD}`);
  }
  if (isImported) conditions.push(isNotNull(users.importedHash), ne(users.importedHash, NO_PASSWORD));
  return orm
    .select()
    .from(users)
    .where(and(...conditions))
    .orderBy(asc(users.id))
    .limit(limit);
}

export function createUserSearches({ orm, prepare }: RepositoryClient, dialect: Dialect): UserSearches {
  const { tables, later } = dialect;
  const { users, userNetworks, passkeys, identities } = tables;

  return {
    list: async (request) => {
      const { search } = request;
      const [matches] = search === undefined ? [] : await prepare(matchesQuery(orm, dialect, search))({});
      const isCommon = Math.max(Number(matches?.emails), Number(matches?.usernames)) >= MAX_INDEXED_MATCHES;
      return prepare(searchQuery(orm, dialect, request, isCommon))({});
    },
    countLoginMeans: async (ids, networkSeconds) => {
      const countOf = (name: keyof LoginMeans, userId: SQLWrapper & Pick<AnyColumn, "table">, more?: SQL) =>
        sql`select ${userId} as id, ${sql.raw(`'${name}'`)} as name, count(*) as rows from ${userId.table} where ${and(inArray(userId, [...ids]), more)} group by ${userId}`;
      const isRecent = gt(userNetworks.lastSeenAt, later(-networkSeconds));
      const counts = sql`(${countOf("passkeys", passkeys.userId)} union all ${countOf("identities", identities.userId)} union all ${countOf("networks", userNetworks.userId, isRecent)}) as counts`;
      const columns = {
        id: sql<number | string>`id`,
        name: sql<keyof LoginMeans>`name`,
        rows: sql<number | string>`rows`,
      };
      const found = ids.length === 0 ? [] : await prepare(orm.select(columns).from(counts))({});
      const means = new Map(ids.map((id) => [id, { passkeys: 0, identities: 0, networks: 0 }]));
      for (const { id, name, rows } of found) {
        const own = means.get(Number(id));
        if (own) own[name] = Number(rows);
      }
      return means;
    },
    countTotals: async (recentSeconds) => {
      const totals = { users: 0, inactive: 0, recent: 0 };
      const { id, isActive, lastLoginAt } = users;
      const sumOf = (condition: SQL) =>
        sql<number | string>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`;
      for (let after = 0; ; ) {
        const page = orm.select({ id, isActive, lastLoginAt }).from(users).where(gt(id, after));
        const part = page.orderBy(asc(id)).limit(COUNTED_AT_ONCE).as("part");
        const counts = orm
          .select({
            last: max(part.id),
            users: count(),
            inactive: sumOf(isInactive(part.isActive)),
            recent: sumOf(sql`${part.lastLoginAt} > ${later(-recentSeconds)}`),
          })
          .from(part);
        const [counted] = await prepare(counts)({});
        if (!counted?.last) return totals;
        for (const name of ["users", "inactive", "recent"] as const) totals[name] += Number(counted[name]);
        after = Number(counted.last);
      }
    },
  };
}
