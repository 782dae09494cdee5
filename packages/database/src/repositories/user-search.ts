/**
 * What an operator reads about users. Invariant: no statement reads more rows than its page and a slice of an index, however many
 * users there are and whichever of them match: the embedded database blocks the whole service while it reads.
 */
import { emailForms } from "@latchkey/contracts";
import {
  type AnyColumn,
  and,
  asc,
  eq,
  gt,
  inArray,
  isNotNull,
  lte,
  max,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { NO_PASSWORD } from "../passwords.ts";
import { hasRoles, isInactive, type User } from "../tables.ts";
import { type PageRequest, placeholders, type RepositoryClient } from "./repository-client.ts";
import { readSlices, SLICE_ROWS } from "./slices.ts";
import { createStoredForms, type StoredForms } from "./stored-forms.ts";

/** Selects the users that meet all conditions. A condition that is undefined is met by every user. */
export interface UserSearch extends PageRequest {
  /** This address, in any of its forms (`emailForms`). */
  readonly email?: string | undefined;
  /** This domain of the e-mail in lower case, in any of its forms. No index finds these users. */
  readonly domain?: string | undefined;
  /** The beginning of the e-mail or of the username. The case is ignored. */
  readonly search?: string | undefined;
  /** A part of the e-mail or of the username. The case is ignored. No index finds these users. */
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

/** If more texts begin with the searched one, a walk over all users in the order of ids is used instead of the matches. */
const MAX_INDEXED_MATCHES = 1_000;
const LAST_CHARACTER = "\u{10FFFF}";

export interface UserSearches {
  /**
   * Returns a page in ascending order of ids. It is shorter than `limit` only if no more users match.
   * @param signal ends the search. @throws its reason
   */
  list(request: UserSearch, signal?: AbortSignal): Promise<User[]>;
  /** @param networkSeconds networks that were stored earlier are not counted */
  countLoginMeans(ids: readonly number[], networkSeconds: number): Promise<Map<number, LoginMeans>>;
}

/** Each range is a slice of one index. */
function prefixRanges({ tables: { users }, binary }: Dialect, { emails, usernames }: StoredForms) {
  const startsWith = (text: SQL) => (prefix: string) =>
    sql`(${text} >= ${prefix} and ${text} < ${`${prefix}${LAST_CHARACTER}`})`;
  return {
    emails: emails.map(startsWith(binary(sql`${users.email}`))),
    usernames: usernames.map(startsWith(binary(sql`lower(${users.username})`))),
  };
}

/** A pattern that matches the text literally. */
const escapeLike = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");
const isLike = (text: SQLWrapper, pattern: SQLWrapper | string) => sql`${text} like ${pattern} escape '!'`;

/** Counts the matches of each index, but no more than `MAX_INDEXED_MATCHES`. */
export function matchesQuery(orm: Orm, dialect: Dialect, forms: StoredForms) {
  const { users } = dialect.tables;
  const limit = sql.raw(`limit ${MAX_INDEXED_MATCHES}`);
  const countUpTo = (ranges: readonly SQL[]) => {
    const matches = ranges.map(
      (range) => sql`select * from (select 1 from ${users} where ${range} ${limit}) as matches`,
    );
    return sql<
      number | string
    >`(select count(*) from (${sql.join(matches, sql` union all `)} ${limit}) as matches)`;
  };
  const { emails, usernames } = prefixRanges(dialect, forms);
  return orm
    .select({ emails: countUpTo(emails), usernames: countUpTo(usernames) })
    .from(sql`(select 1) as one`);
}

interface SearchConditions {
  /** Of a partial index. undefined: the primary key, or `matches`, finds the users. */
  readonly index?: SQL | undefined;
  /** Met by few users, whom an index finds. */
  readonly matches?: SQL | undefined;
  /** Checked in each row. No index contains these conditions, so that a walk over another index reads no more than its slice. */
  readonly filters: readonly SQL[];
}

/** The texts of a request as they are stored. */
interface SearchedTexts {
  readonly search?: StoredForms | undefined;
  readonly contains?: StoredForms | undefined;
  /** Whether so many users match the prefix that the indexes are not used for it. */
  readonly isCommon: boolean;
}

const isNoPassword = (importedHash: SQLWrapper, isWithoutPassword: boolean) =>
  sql`coalesce(${importedHash}, '') ${sql.raw(isWithoutPassword ? "=" : "<>")} ${NO_PASSWORD}`;

function searchConditions(dialect: Dialect, request: UserSearch, texts: SearchedTexts): SearchConditions {
  const { tables, isReturnedBy } = dialect;
  const { users } = tables;
  const { email, domain, isActive, role, isWithoutPassword, isImported } = request;
  const { search, contains, isCommon } = texts;
  const eitherOf = (forms: StoredForms, matches: (stored: SQL, text: string) => SQL) =>
    sql`(${or(
      ...forms.emails.map((text) => matches(sql`${users.email}`, text)),
      ...forms.usernames.map((text) => matches(sql`lower(${users.username})`, text)),
    )})`;
  const filters: SQL[] = [];
  if (domain !== undefined) {
    const patterns = emailForms(`@${domain}`).map((form) => `%${escapeLike(form)}`);
    filters.push(sql`(${or(...patterns.map((pattern) => isLike(sql`${users.email}`, pattern)))})`);
  }
  if (contains) filters.push(eitherOf(contains, (stored, part) => isLike(stored, `%${escapeLike(part)}%`)));
  if (search && (isCommon || email !== undefined))
    filters.push(
      eitherOf(search, (stored, prefix) => sql`substr(${stored}, 1, length(${prefix})) = ${prefix}`),
    );
  if (role !== undefined) filters.push(isLike(sql`${users.roles}`, `%${escapeLike(JSON.stringify(role))}%`));
  if (isWithoutPassword !== undefined) filters.push(isNoPassword(users.importedHash, isWithoutPassword));
  if (isImported) filters.push(isNotNull(sql`nullif(${users.importedHash}, ${NO_PASSWORD})`));
  const isOfState = isActive === undefined ? [] : [eq(users.isActive, isActive)];

  if (email !== undefined)
    return { matches: inArray(users.email, emailForms(email)), filters: [...filters, ...isOfState] };
  if (search && !isCommon) {
    const { emails, usernames } = prefixRanges(dialect, search);
    const ids = [...emails, ...usernames].map(
      (range) => sql`select ${users.id} from ${users} where ${range}`,
    );
    const matches = sql`${users.id} ${isReturnedBy(sql.join(ids, sql` union `))}`;
    return { matches, filters: [...filters, ...isOfState] };
  }
  if (role !== undefined) return { index: hasRoles(users.roles), filters: [...filters, ...isOfState] };
  if (isWithoutPassword || isImported)
    return { index: isNotNull(users.importedHash), filters: [...filters, ...isOfState] };
  if (isActive === false) return { index: isInactive(users.isActive), filters };
  return { filters: [...filters, ...isOfState] };
}

const given = placeholders("after", "until", "limit", "rows");

/**
 * `page` selects the users after `after`, and up to `until` if `slice` is not null. `slice` selects the last of the next `rows` ids
 * of the index.
 */
export function searchQueries(orm: Orm, dialect: Dialect, request: UserSearch, texts: SearchedTexts) {
  const { users } = dialect.tables;
  const { index, matches, filters } = searchConditions(dialect, request, texts);
  const isSliced = matches === undefined && filters.length > 0;
  const isAfter = and(gt(users.id, given.after), index);
  const ids = orm
    .select({ id: users.id })
    .from(users)
    .where(isAfter)
    .orderBy(asc(users.id))
    .limit(given.rows);
  const next = ids.as("slice");
  const page = orm
    .select()
    .from(users)
    .where(and(isAfter, isSliced ? lte(users.id, given.until) : matches, ...filters));
  return {
    slice: isSliced ? orm.select({ last: max(next.id) }).from(next) : null,
    page: page.orderBy(asc(users.id)).limit(given.limit),
  };
}

export function createUserSearches({ orm, prepare }: RepositoryClient, dialect: Dialect): UserSearches {
  const { tables, later } = dialect;
  const storedForms = createStoredForms({ orm, prepare }, dialect);
  const { userNetworks, passkeys, identities } = tables;

  const isCommonPrefix = async (forms: StoredForms): Promise<boolean> => {
    const [matches] = await prepare(matchesQuery(orm, dialect, forms))({});
    return Math.max(Number(matches?.emails), Number(matches?.usernames)) >= MAX_INDEXED_MATCHES;
  };

  return {
    list: async (request, signal) => {
      const { after: first, limit, email } = request;
      const search = request.search === undefined ? undefined : await storedForms(request.search);
      const contains = request.contains === undefined ? undefined : await storedForms(request.contains);
      const isCommon = search !== undefined && email === undefined && (await isCommonPrefix(search));
      const { slice, page } = searchQueries(orm, dialect, request, { search, contains, isCommon });
      const select = prepare(page);
      if (slice === null) return select({ after: first, limit });
      const selectEnd = prepare(slice);
      const found: User[] = [];
      // Most pages are found in few rows.
      let rows = Math.min(limit, SLICE_ROWS);
      const read = async (after: number) => {
        const until = Number((await selectEnd({ after, rows }))[0]?.last ?? 0);
        if (until === 0) return null;
        found.push(...(await select({ after, until, limit: limit - found.length })));
        rows = Math.min(4 * rows, SLICE_ROWS);
        return found.length < limit ? until : null;
      };
      await readSlices(first, read, signal);
      return found;
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
  };
}
