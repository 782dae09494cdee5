/**
 * Identities in either database: users of OpenID Connect providers who can log in as a user. Invariants: an identity belongs to one
 * user. Adding or removing one locks that user, so the last way to log in cannot be removed by two requests at once.
 */
import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { IdentityAlreadyUsed } from "./errors.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { createLoginMethods, type LoginRule } from "./login-methods.ts";
import { sentByDueAt } from "./outbox.ts";
import { type Orm, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import type { Identity, User } from "./tables.ts";
import { createUserChanges, type Password } from "./user-changes.ts";

export type NewIdentity = Pick<Identity, "issuer" | "subject" | "provider">;

interface IdentityChange {
  /** Whether a notification is written to the outbox together with the change. */
  readonly notifies: boolean;
}

/** The state of a user that is checked when the user gets an identity. */
interface IdentityCondition extends Guard {
  /** The verified e-mail that the user must have. @default any e-mail */
  readonly verifiedEmail?: string;
}

/** Inserts the identity for a user whom the transaction has locked. @throws IdentityAlreadyUsed */
export async function insertIdentity(
  transaction: Orm,
  { identities, now }: Pick<Tables, "identities" | "now">,
  values: NewIdentity & { readonly userId: number; readonly isUsed: boolean },
): Promise<Identity> {
  const { isUsed, ...identity } = values;
  const row = { ...identity, ...(isUsed && { lastUsedAt: now }) };
  const query = transaction.insert(identities).values(row).onConflictDoNothing().returning();
  const [created] = await query;
  if (!created) throw new IdentityAlreadyUsed();
  return created;
}

export function createIdentityRepository(client: RepositoryClient, tables: Tables) {
  const { orm, prepare, run, transact } = client;
  const { identities, users, outbox, now } = tables;
  const { takeOver } = createUserChanges(tables);
  const { expectLogin } = createLoginMethods(tables);
  const given = placeholders("issuer", "subject", "userId");
  const isGiven = and(eq(identities.issuer, given.issuer), eq(identities.subject, given.subject));
  const bySubject = prepare(orm.select().from(identities).where(isGiven));
  const ofUser = orm.select().from(identities).where(eq(identities.userId, given.userId));
  const oldestFirst = prepare(ofUser.orderBy(asc(identities.createdAt), asc(identities.id)));

  /** Returns the user, or null if the condition is not met. */
  const lock = async (transaction: Orm, id: number, condition?: SQL): Promise<User | null> => {
    const query = transaction.update(users).set({ loginCodeRevision: sql`${users.loginCodeRevision}` });
    const [user = null] = await query.where(and(eq(users.id, id), condition)).returning();
    return user;
  };

  const notify = (transaction: Orm, userId: number, kind: "identity" | "takeover") =>
    transaction.insert(outbox).values({ kind, userId, ...sentByDueAt(tables) });

  return {
    find: async ({ issuer, subject }: Pick<Identity, "issuer" | "subject">) =>
      (await bySubject({ issuer, subject }))[0] ?? null,
    /** Returns the user's identities, the oldest first. */
    list: (userId: number) => oldestFirst({ userId }),
    /** Returns the number of identities by user id, only for users who have identities. */
    count: async (userIds: readonly number[]) => {
      const { userId } = identities;
      const count = sql<number | string>`count(*)`;
      const ofUsers = inArray(userId, [...userIds]);
      const rows = await run(orm.select({ userId, count }).from(identities).where(ofUsers).groupBy(userId));
      return new Map(rows.map((row) => [row.userId, Number(row.count)]));
    },
    /** Stores the time of a login and the provider's name. Returns false if the identity was removed. */
    use: async ({ id, userId, provider }: Pick<Identity, "id" | "userId" | "provider">) => {
      const own = and(eq(identities.id, id), eq(identities.userId, userId));
      const query = orm.update(identities).set({ provider, lastUsedAt: now }).where(own);
      return (await run(query.returning({ id: identities.id }))).length > 0;
    },
    /**
     * Returns the identity, also if the user already has it. Returns null if the condition is not met.
     * @throws IdentityAlreadyUsed if another user has it
     */
    add: (
      userId: number,
      identity: NewIdentity,
      { verifiedEmail, ...token }: IdentityCondition,
      { notifies, isUsed }: IdentityChange & { readonly isUsed: boolean },
    ) =>
      transact(async (transaction): Promise<Identity | null> => {
        const hasEmail =
          verifiedEmail === undefined
            ? undefined
            : and(eq(users.email, verifiedEmail), eq(users.emailVerified, true));
        if (!(await lock(transaction, userId, and(meetsGuard(users, token), hasEmail)))) return null;
        const { issuer, subject } = identity;
        const isSame = and(eq(identities.issuer, issuer), eq(identities.subject, subject));
        const own = and(eq(identities.userId, userId), isSame);
        const [existing] = await transaction.select().from(identities).where(own);
        if (existing) return existing;
        const created = await insertIdentity(transaction, tables, { ...identity, userId, isUsed });
        if (notifies) await notify(transaction, userId, "identity");
        return created;
      }),
    /**
     * Ends all credentials of a user with an unverified e-mail, verifies the e-mail and adds the identity. Returns the changed user,
     * or null if the user is inactive or has changed.
     * @throws IdentityAlreadyUsed
     */
    takeOver: (user: User, identity: NewIdentity, password: Password, { notifies }: IdentityChange) =>
      transact(async (transaction) => {
        const isUnchanged = and(
          eq(users.tokenVersion, user.tokenVersion),
          eq(users.hashedPassword, user.hashedPassword),
        );
        const changed = await takeOver(transaction, user, password, isUnchanged);
        if (!changed) return null;
        await insertIdentity(transaction, tables, { ...identity, userId: user.id, isUsed: true });
        if (notifies) await notify(transaction, user.id, "takeover");
        return changed;
      }),
    /**
     * Returns false if the condition is not met or the user has no identity with this id.
     * @throws LastLogin if `canLogIn` rejects what would remain
     */
    delete: (
      id: number,
      userId: number,
      condition: Guard,
      { notifies, canLogIn }: IdentityChange & { readonly canLogIn: LoginRule },
    ) =>
      transact(async (transaction) => {
        const user = await lock(transaction, userId, meetsGuard(users, condition));
        if (!user) return false;
        const own = and(eq(identities.id, id), eq(identities.userId, userId));
        const query = transaction.delete(identities).where(own).returning({ id: identities.id });
        if ((await query).length === 0) return false;
        await expectLogin(transaction, user, canLogIn);
        if (notifies) await notify(transaction, userId, "identity");
        return true;
      }),
    /** Returns the user, or null if the user does not exist. Notifies only a user who had identities. */
    deleteAll: (userId: number, { notifies }: IdentityChange) =>
      transact(async (transaction) => {
        const user = await lock(transaction, userId);
        const query = transaction.delete(identities).where(eq(identities.userId, userId));
        const isDeleted = (await query.returning({ id: identities.id })).length > 0;
        if (isDeleted && notifies) await notify(transaction, userId, "identity");
        return user;
      }),
  };
}
