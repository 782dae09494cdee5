/** The administration of users for programs: hashing, pages and shapes. The rules are in `packages/administration`. */
import {
  type Administration,
  type AdministrationOptions,
  countUsers,
  createAdministration,
  describeUser,
  describeUsers,
  explainLogin,
  type Invitation,
  type LoginLimits,
  type LoginRules,
  type NewUser,
  type Operator,
} from "@latchkey/administration";
import {
  type AdminExplanation,
  type AdminStats,
  type AdminUser,
  type CreateAdminUserRequest,
  isMailable,
  isSameEmail,
  toAsciiEmail,
  type UpdateAdminUserRequest,
} from "@latchkey/contracts";
import type { Database, OperatorChange, User, UserSearch } from "@latchkey/database";
import { type Hasher, hashFormat } from "@latchkey/hashing";
import { type Digests, LOGIN_ATTEMPTS, WRONG_PASSWORDS, wrongPasswordKey } from "@latchkey/limits";
import { ServiceError } from "../../errors.ts";
import { monotonicNow } from "../../rate-limit/clock.ts";
import type { Store } from "../../rate-limit/store.ts";

interface AdministrationServiceOptions extends Pick<AdministrationOptions, "audit"> {
  readonly database: Pick<Database, "users" | "passkeys" | "identities" | "factors" | "outbox">;
  readonly hasher: Pick<Hasher, "hash">;
  readonly rules: LoginRules;
  /** Whether users have a language. */
  readonly hasLocale: boolean;
  /** What the public API counts with; null: nothing is limited. */
  readonly limits: CountersOptions | null;
}

interface CountersOptions {
  readonly store: Store;
  readonly digests: Digests;
  /** Where the store counts. */
  readonly counters: string;
}

export interface AdministrationService
  extends Pick<Administration, "delete" | "revokeTokens" | "removePasskeys" | "removeFactor" | "sendReset"> {
  /** @throws USER_NOT_FOUND */
  explain(id: number): Promise<AdminExplanation>;
  /** @throws USER_NOT_FOUND */
  read(id: number): Promise<AdminUser>;
  /** `nextAfter` is the id of the last returned user, or null if there is no next page. */
  list(request: UserSearch, signal: AbortSignal): Promise<{ items: AdminUser[]; nextAfter: number | null }>;
  /** `isNew` is false if the user existed without a password and got another invitation. */
  create(
    request: CreateAdminUserRequest,
    operator: Operator,
    signal: AbortSignal,
  ): Promise<{ user: AdminUser; isNew: boolean }>;
  /** Makes all changes or none. @throws USER_NOT_FOUND, EMAIL_NOT_VERIFIED, UserAlreadyExists */
  update(
    id: number,
    request: UpdateAdminUserRequest,
    operator: Operator,
    signal: AbortSignal,
  ): Promise<AdminUser>;
  count(signal: AbortSignal): Promise<AdminStats>;
}

export function createAdministrationService(options: AdministrationServiceOptions): AdministrationService {
  const { database, hasher, rules, hasLocale, limits, audit } = options;
  const { users } = database;
  const administration = createAdministration({ database, sendsMail: rules.sendsMail, audit });

  const describe = (user: User) => describeUser(users, user, { hasLocale });
  const readLimits = limits ? createLimitsReader(limits) : async () => ({ state: "off" }) as const;

  return {
    async explain(id) {
      const user = await administration.find({ id });
      const found = await readLimits(user);
      return explainLogin(user, {
        users,
        factors: database.factors,
        formatOf: hashFormat,
        rules,
        limits: found,
      });
    },
    read: async (id) => describe(await administration.find({ id })),
    async list(request, signal) {
      // One more row shows whether there is a next page.
      const rows = await users.list({ ...request, limit: request.limit + 1 }, signal);
      const shown = rows.slice(0, request.limit);
      const items = await describeUsers(users, shown, { hasLocale });
      return { items, nextAfter: rows.length > request.limit ? (items.at(-1)?.id ?? null) : null };
    },
    async create(request, operator, signal) {
      const { email, username, password, claims, email_verified: emailVerified } = request;
      const roles = request.roles && toSet(request.roles);
      const locale = request.locale ?? undefined;
      if (password === undefined || username === undefined) {
        const invitation: Invitation = { email, username, roles, claims, locale, emailVerified };
        const { user, isNew } = await administration.invite(invitation, operator);
        return { user: await describe(user), isNew };
      }
      const hashedPassword = await hasher.hash(password, { signal });
      const user: NewUser = {
        email,
        username,
        hashedPassword,
        roles: roles ?? [],
        claims,
        locale,
        emailVerified,
      };
      return { user: await describe(await administration.create(user, operator)), isNew: true };
    },
    async update(id, request, operator, signal) {
      const { username, email, password, roles, claims, locale } = request;
      const { is_active: isActive, email_verified: emailVerified } = request;
      const user = await administration.find({ id });
      // A stored e-mail can be older than the rule for new ones. A program that sends it back changes nothing.
      const isMoved = email !== undefined && !isSameEmail(email, user.email);
      if (isMoved && !isMailable(email))
        throw new ServiceError("INVALID_REQUEST", { issues: [INVALID_EMAIL] });
      if (locale === null && user.locale !== null)
        throw new ServiceError("INVALID_REQUEST", { issues: [UNSET_LOCALE] });
      if (!Object.values({ ...request, reason: undefined }).some((value) => value != null))
        return describe(user);
      const hashedPassword = password === undefined ? undefined : await hasher.hash(password, { signal });
      const change: OperatorChange = {
        username,
        email: email && toAsciiEmail(email),
        hashedPassword,
        roles: roles && toSet(roles),
        claims,
        locale: locale ?? undefined,
        isActive,
        emailVerified,
      };
      return describe(await administration.change(id, change, operator));
    },
    delete: administration.delete,
    revokeTokens: administration.revokeTokens,
    removePasskeys: administration.removePasskeys,
    removeFactor: administration.removeFactor,
    sendReset: administration.sendReset,
    count: (signal) => countUsers(users, hashFormat, { countsFactors: rules.hasSecondFactor, signal }),
  };
}

/** The issue of a new e-mail that the service does not mail, as the validator writes it. */
const INVALID_EMAIL = {
  loc: ["body", "email"],
  msg: "is not a valid e-mail address",
  type: "string_pattern_mismatch",
};

/** The issue of null for a language that was set. */
const UNSET_LOCALE = { loc: ["body", "locale"], msg: "cannot be removed", type: "not_allowed" };

/** Returns a function that reads the counters of the public API, and counts nothing. */
function createLimitsReader({ store, digests, counters }: CountersOptions) {
  const attempts = store.tokenBucket(LOGIN_ATTEMPTS);
  const passwords = store.fixedWindow(WRONG_PASSWORDS);
  return async (user: User): Promise<LoginLimits> => {
    const { count, resetsAt } = await passwords.read(wrongPasswordKey(user));
    return {
      state: "read",
      counters,
      attemptMs: await attempts.read(digests.email(user.email)),
      wrongPasswords: { count, remainingMs: resetsAt - monotonicNow() },
    };
  };
}

/** In sorted order and without duplicates, as the admin tool stores roles. */
const toSet = (roles: readonly string[]) => [...new Set(roles)].sort();
