/** Identities: users of OpenID Connect providers who can log in as a user. Invariant: an identity belongs to one user. */
import { and, asc, eq } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { IdentityAlreadyUsed, TooManyIdentities } from "../errors.ts";
import type { Password } from "../passwords.ts";
import type { Identity, User } from "../tables.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertMail } from "./insert-mail.ts";
import { createMethodRemovals, type MethodChange, type MethodRemovals } from "./login-methods.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { createUserChanges } from "./user-changes.ts";

/** The maximum number of identities of one user. */
const MAX_IDENTITIES = 10;

export type NewIdentity = Pick<Identity, "issuer" | "subject" | "provider">;

/** The state of a user that is checked when the user gets an identity. */
interface IdentityCondition extends Guard {
  /** The verified e-mail that the user must have. @default any e-mail */
  readonly verifiedEmail?: string;
}

export interface IdentityRepository extends MethodRemovals<number> {
  find(identity: Pick<Identity, "issuer" | "subject">): Promise<Identity | null>;
  /** Returns the user's identities, the oldest first. */
  list(userId: number): Promise<Identity[]>;
  /** Stores the time of a login and the provider's name. Returns false if the identity was removed. */
  use(identity: Pick<Identity, "id" | "userId" | "provider">): Promise<boolean>;
  /**
   * Returns the identity, also if the user already has it. Returns null if the condition is not met.
   * @throws IdentityAlreadyUsed if another user has it
   * @throws TooManyIdentities
   */
  add(
    userId: number,
    identity: NewIdentity,
    condition: IdentityCondition,
    options: MethodChange & { readonly isUsed: boolean },
  ): Promise<Identity | null>;
  /**
   * Ends all credentials of a user with an unverified e-mail, verifies the e-mail and adds the identity. Returns the changed user,
   * or null if the user is inactive or has changed.
   * @throws IdentityAlreadyUsed
   */
  takeOver(user: User, identity: NewIdentity, password: Password, change: MethodChange): Promise<User | null>;
}

/** Inserts the identity for a user whom the transaction has locked. @throws IdentityAlreadyUsed */
export async function insertIdentity(
  transaction: Orm,
  { tables: { identities }, now }: Dialect,
  { isUsed, ...identity }: NewIdentity & { readonly userId: number; readonly isUsed: boolean },
): Promise<Identity> {
  const row = { ...identity, ...(isUsed && { lastUsedAt: now }) };
  const [created] = await transaction.insert(identities).values(row).onConflictDoNothing().returning();
  if (!created) throw new IdentityAlreadyUsed();
  return created;
}

export function createIdentityRepository(client: RepositoryClient, dialect: Dialect): IdentityRepository {
  const { orm, prepare, run, transact } = client;
  const { tables, now } = dialect;
  const { identities, users } = tables;
  const { lock, takeOver } = createUserChanges(dialect);
  const given = placeholders("issuer", "subject", "userId");
  const isGiven = and(eq(identities.issuer, given.issuer), eq(identities.subject, given.subject));
  const bySubject = prepare(orm.select().from(identities).where(isGiven));
  const ofUser = orm.select().from(identities).where(eq(identities.userId, given.userId));
  const oldestFirst = prepare(ofUser.orderBy(asc(identities.createdAt), asc(identities.id)));
  const isId = (id: number) => eq(identities.id, id);

  return {
    find: async ({ issuer, subject }) => (await bySubject({ issuer, subject }))[0] ?? null,
    list: (userId) => oldestFirst({ userId }),
    use: async ({ id, userId, provider }) => {
      const own = and(isId(id), eq(identities.userId, userId));
      const query = orm.update(identities).set({ provider, lastUsedAt: now }).where(own);
      return (await run(query.returning({ id: identities.id }))).length > 0;
    },
    add: (userId, identity, { verifiedEmail, ...token }, { notifies, isUsed }) =>
      transact(async (transaction) => {
        const hasEmail =
          verifiedEmail === undefined
            ? undefined
            : and(eq(users.email, verifiedEmail), eq(users.emailVerified, true));
        if (!(await lock(transaction, userId, and(meetsGuard(users, token), hasEmail)))) return null;
        const { issuer, subject } = identity;
        const own = await transaction.select().from(identities).where(eq(identities.userId, userId));
        const existing = own.find((one) => one.issuer === issuer && one.subject === subject);
        if (existing) return existing;
        if (own.length >= MAX_IDENTITIES) throw new TooManyIdentities();
        const created = await insertIdentity(transaction, dialect, { ...identity, userId, isUsed });
        if (notifies) await insertMail(transaction, dialect, { kind: "identity", userId });
        return created;
      }),
    takeOver: (user, identity, password, { notifies }) =>
      transact(async (transaction) => {
        const isUnchanged = and(
          eq(users.tokenVersion, user.tokenVersion),
          eq(users.hashedPassword, user.hashedPassword),
        );
        const changed = await takeOver(transaction, user, password, isUnchanged);
        if (!changed) return null;
        await insertIdentity(transaction, dialect, { ...identity, userId: user.id, isUsed: true });
        if (notifies) await insertMail(transaction, dialect, { kind: "takeover", userId: user.id });
        return changed;
      }),
    ...createMethodRemovals(client, dialect, { table: identities, isId, kind: "identity", lock }),
  };
}
