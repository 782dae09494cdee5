/** Users. Each change except that of `storeNetwork` is one statement or one transaction, and therefore atomic. */
import { type Claims, emailForms } from "@latchkey/contracts";
import { and, eq, getTableColumns, inArray } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { singleRow } from "../row-decoder.ts";
import type { Tables, User } from "../tables.ts";
import type { Timestamp } from "../timestamp.ts";
import { createEmailChanges, type EmailChanges } from "./email-changes.ts";
import { matchEmailForms } from "./email-forms.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertIdentity, type NewIdentity } from "./identities.ts";
import { createImports, type Imports, rememberDeletion } from "./imports.ts";
import { insertMail } from "./insert-mail.ts";
import { createLogins, type Logins } from "./logins.ts";
import { createOperatorChanges, type OperatorChanges } from "./operator-changes.ts";
import { UNLIMITED } from "./outbox.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { createUserChanges, explainConflict, type UserChange, userValues } from "./user-changes.ts";
import { createUserCounts, type UserCounts } from "./user-counts.ts";
import { createUserSearches, type UserSearches } from "./user-search.ts";

export interface NewUser extends Pick<User, "email" | "username" | "hashedPassword"> {
  /** @default null */
  readonly importedHash?: string | null;
  /** @default false */
  readonly emailVerified?: boolean | undefined;
  /** @default no roles */
  readonly roles?: string[];
  /** @default none */
  readonly claims?: Claims | undefined;
  /** @default null */
  readonly locale?: string | null | undefined;
  /** A network that is stored together with the user. */
  readonly networkDigest?: string | undefined;
  /** Whether a verification mail is written to the outbox together with the user. @default false */
  readonly verifies?: boolean;
  /** Whether an invitation, which no budget limits, is written to the outbox together with the user. @default false */
  readonly invites?: boolean;
}

/** `networkSeenAt`: the time when the given network was last stored for this user, or null. */
export type UserOfNetwork = User & { readonly networkSeenAt: Timestamp | null };

/** The columns that requests with a token need of their user. Reading the others costs about 4 % of the requests/s of `/auth/me`. */
const authenticatedColumns = ({ users }: Tables) => {
  const {
    importedAt,
    passkeyUserHandle,
    pendingEmail,
    linkRevision,
    loginCodeRevision,
    lastLoginAt,
    ...columns
  } = getTableColumns(users);
  return columns;
};

export type AuthenticatedUser = Pick<User, keyof ReturnType<typeof authenticatedColumns>>;

/** Ids are positive safe integers and are never reused. */
export interface UserRepository
  extends EmailChanges,
    OperatorChanges,
    Logins,
    UserSearches,
    UserCounts,
    Imports {
  findById(id: number): Promise<User | null>;
  /** Finds the user of a token. */
  findAuthenticated(id: number): Promise<AuthenticatedUser | null>;
  /** Creates the user and, if given, an identity that logs in. @throws UserAlreadyExists, IdentityAlreadyUsed */
  create(user: NewUser, identity?: NewIdentity): Promise<User>;
  /** Finds the user by one of the forms of the trimmed, lowercase address (`emailForms`), in this order. */
  findByEmail(email: string, networkDigest?: string): Promise<UserOfNetwork | null>;
  /** Finds the user of a login whose user is already known. */
  findWithNetwork(id: number, networkDigest?: string): Promise<UserOfNetwork | null>;
  /**
   * Sets `updatedAt` unless `change` is empty. Returns null if the user does not exist or the condition is not met. The
   * condition is not checked if `change` is empty.
   * @throws UserAlreadyExists
   */
  update(id: number, change: UserChange, condition?: Guard): Promise<User | null>;
  /** Returns false if the user was deleted, or has another e-mail than the given one. */
  verifyEmail(user: Pick<User, "id" | "email">): Promise<boolean>;
  /** Revokes all tokens and ends the waiting resets. Returns null if the user does not exist or the condition is not met. */
  revokeTokens(id: number, condition?: Guard): Promise<User | null>;
  /**
   * Returns false if the user does not exist or the condition is not met.
   * @param condition the owner's token. If it is set, imports skip the e-mail for 90 days
   * @param options.notifies whether a notification is written to the outbox. @default false
   */
  delete(id: number, condition?: Guard, options?: { readonly notifies?: boolean }): Promise<boolean>;
  /** Deletes the users in one statement. Returns the ids of the users that existed. */
  deleteAll(ids: readonly number[]): Promise<number[]>;
}

export function createUserRepository(client: RepositoryClient, dialect: Dialect): UserRepository {
  const { orm, prepare, run, transact } = client;
  const { tables, now } = dialect;
  const { users, userNetworks, outbox } = tables;
  const { update, revocation, replacePassword, expectFreeEmail } = createUserChanges(dialect);
  const given = placeholders("id", "email", "asciiEmail", "unicodeEmail", "networkDigest");
  const isGiven = eq(users.id, given.id);
  const byId = prepare(orm.select().from(users).where(isGiven));
  const authenticatedById = prepare(orm.select(authenticatedColumns(tables)).from(users).where(isGiven));
  const columns = { ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt };
  const isNetwork = eq(userNetworks.networkDigest, given.networkDigest);
  const isOwn = and(eq(userNetworks.userId, users.id), isNetwork);
  const withNetwork = () => orm.select(columns).from(users).leftJoin(userNetworks, isOwn);
  const byIdWithNetwork = prepare(withNetwork().where(isGiven));
  const forms = matchEmailForms(users, [given.email, given.asciiEmail, given.unicodeEmail]);
  const byEmail = prepare(withNetwork().where(forms.hasForm).orderBy(forms.order).limit(1));

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;
  const findByEmail = async (sent: string, networkDigest = "") => {
    const [email, asciiEmail, unicodeEmail] = emailForms(sent);
    return (await byEmail({ email, asciiEmail, unicodeEmail, networkDigest }))[0] ?? null;
  };
  const selected = (id: number, condition?: Guard) =>
    and(eq(users.id, id), condition && meetsGuard(users, condition));

  return {
    ...createEmailChanges(client, dialect),
    ...createOperatorChanges(client, dialect, findByEmail),
    ...createLogins(client, dialect),
    ...createUserSearches(client, dialect),
    ...createUserCounts(client, dialect),
    ...createImports(client, dialect),
    findById,
    findAuthenticated: async (id) => (await authenticatedById({ id }))[0] ?? null,
    create: ({ networkDigest, verifies, invites, ...values }, identity) =>
      transact(async (transaction) => {
        await expectFreeEmail(transaction, values.email);
        const user: User = singleRow(await transaction.insert(users).values(values).returning());
        const userId = user.id;
        if (networkDigest !== undefined)
          await transaction.insert(userNetworks).values({ userId, networkDigest });
        if (identity) await insertIdentity(transaction, dialect, { ...identity, userId, isUsed: true });
        if (verifies) await insertMail(transaction, dialect, { kind: "verification", userId });
        const invitation = { kind: "invitation", userId, emailDigest: UNLIMITED } as const;
        if (invites) await insertMail(transaction, dialect, invitation);
        return user;
      }).catch(explainConflict(async () => ((await findByEmail(values.email)) ? "email" : "username"))),
    findByEmail,
    findWithNetwork: async (id, networkDigest = "") =>
      (await byIdWithNetwork({ id, networkDigest }))[0] ?? null,
    update: async (id, change, condition) => {
      const { hashedPassword } = change;
      if (hashedPassword === undefined) {
        const values = userValues(change);
        if (Object.values(values).every((value) => value === undefined)) return findById(id);
        const query = orm.update(users).set({ ...values, updatedAt: now });
        const updated = run(query.where(selected(id, condition)).returning());
        return (await updated.catch(explainConflict(() => "username")))[0] ?? null;
      }
      return transact((transaction) =>
        replacePassword(transaction, { ...change, hashedPassword }, selected(id, condition)),
      ).catch(explainConflict(() => "username"));
    },
    verifyEmail: async ({ id, email }) => {
      const query = orm.update(users).set({ emailVerified: true, updatedAt: now });
      const verified = query.where(and(eq(users.id, id), eq(users.email, email)));
      return (await run(verified.returning({ id: users.id }))).length > 0;
    },
    revokeTokens: (id, condition) =>
      transact((transaction) => update(transaction, revocation(), selected(id, condition))),
    delete: (id, condition, { notifies = false } = {}) =>
      transact(async (transaction) => {
        const [user] = await transaction.delete(users).where(selected(id, condition)).returning();
        if (user && condition) await rememberDeletion(transaction, dialect, user.email);
        if (user && notifies) {
          const { email: recipient, emailVerified: isRecipientVerified, locale: state } = user;
          const mail = { kind: "deletion", userId: id, recipient, isRecipientVerified, state } as const;
          await transaction.insert(outbox).values(mail);
        }
        return user !== undefined;
      }),
    deleteAll: async (ids) => {
      const query = orm.delete(users).where(inArray(users.id, [...ids]));
      return (await run(query.returning({ id: users.id }))).map(({ id }) => id);
    },
  };
}
