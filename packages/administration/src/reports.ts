/** What an operator reads about users besides the read shape of the API. */
import { type AdminStats, type AdminUser, FAMILIAR_NETWORK_DAYS, toAdminUser } from "@latchkey/contracts";
import {
  hasImportedHash,
  hasPassword,
  type User,
  type UserRepository,
  type UserSearch,
} from "@latchkey/database";

const PAGE_SIZE = 500;
const DAY_SECONDS = 24 * 60 * 60;

/** Yields non-empty pages in ascending order of ids. Each page starts after the last id of the previous page. */
export async function* listUsers(users: UserRepository, request: Partial<UserSearch> = {}) {
  let { after = 0, limit = Number.POSITIVE_INFINITY } = request;
  while (limit > 0) {
    const page = await users.list({ ...request, after, limit: Math.min(limit, PAGE_SIZE) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
    limit -= page.length;
  }
}

/**
 * Counts all users.
 * @param formatOf returns the format of an imported hash
 * @param options.countsFactors whether second factors are on
 * @param options.signal ends the count. @throws its reason
 */
export async function countUsers(
  users: Pick<UserRepository, "countTotals" | "countImported">,
  formatOf: (importedHash: string) => string,
  { countsFactors, signal }: { readonly countsFactors: boolean; readonly signal?: AbortSignal },
): Promise<AdminStats> {
  const totals = await users.countTotals(30 * DAY_SECONDS, signal);
  const imported = Object.fromEntries(await users.countImported(formatOf, signal));
  const { users: all, inactive, recent, secondFactors } = totals;
  const factors = countsFactors ? { second_factor: secondFactors } : {};
  return { users: all, inactive, active_30_days: recent, ...factors, imported };
}

interface DescriptionRules {
  /** Whether users have a language. @default false */
  readonly hasLocale?: boolean;
}

export async function describeUser(
  users: Pick<UserRepository, "countLoginMeans">,
  user: User,
  rules: DescriptionRules = {},
): Promise<AdminUser> {
  const [described] = await describeUsers(users, [user], rules);
  if (!described) throw new Error("One user has one description");
  return described;
}

export async function describeUsers(
  users: Pick<UserRepository, "countLoginMeans">,
  described: readonly User[],
  { hasLocale = false }: DescriptionRules = {},
): Promise<AdminUser[]> {
  const ids = described.map(({ id }) => id);
  const means = await users.countLoginMeans(ids, FAMILIAR_NETWORK_DAYS * DAY_SECONDS);
  return described.map((user) => {
    const details = {
      last_login_at: user.lastLoginAt,
      has_password: hasPassword(user),
      imported: hasImportedHash(user),
      passkeys: 0,
      identities: 0,
      networks: 0,
      ...means.get(user.id),
    };
    return toAdminUser(user, details, { hasLocale });
  });
}
