/**
 * Passkeys in either database. Invariants: each change of a user's passkeys locks the user and increments the revision, and a
 * statement logs in once, on all replicas together.
 */
import { and, asc, eq, exists, getTableColumns, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import { type Orm, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import type { Passkey } from "./tables.ts";
import { isValidToken, type ValidToken } from "./token-revocation.ts";

/** The largest number of passkeys of one user. */
const MAX_PASSKEYS = 10;
/** The largest number of statements that a passkey has used and that are not forgotten. */
const MAX_USED_STATEMENTS = 8;

/** What must be true of the user to whom a passkey is added. */
export interface PasskeyCondition extends ValidToken {
  readonly tokenVersion: number;
  /** The user's `passkeyRevision`. */
  readonly revision: number;
}

interface PasskeyChange {
  /** Whether a notification is written to the outbox together with the change. */
  readonly notifies: boolean;
}

/** A statement with which a passkey logs in once. */
export interface PasskeyUse extends Pick<Passkey, "id" | "counter"> {
  readonly digest: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Statements that expired earlier are forgotten: when the clock of no replica accepts them any more. */
  readonly forgetBefore: number;
}

export function createPasskeyRepository(
  { orm, prepare, attempt, run, transact }: RepositoryClient,
  { passkeys, users, outbox, now, jsonMembers, jsonObject }: Tables,
) {
  const given = placeholders("id", "userId", "counter", "digest", "expiresAt", "forgetBefore");
  const { passkeyUserHandle } = users;
  const columns = {
    ...getTableColumns(passkeys),
    email: users.email,
    tokenVersion: users.tokenVersion,
    userHandle: passkeyUserHandle,
  };
  const withUser = orm.select(columns).from(passkeys).innerJoin(users, eq(users.id, passkeys.userId));
  const byId = prepare(withUser.where(eq(passkeys.id, given.id)));
  const ofUser = orm.select().from(passkeys).where(eq(passkeys.userId, given.userId));
  const oldestFirst = prepare(ofUser.orderBy(asc(passkeys.createdAt), asc(passkeys.id)));

  const used = jsonMembers(passkeys.usedStatements);
  const remembered = sql`${used} where cast(value as bigint) >= ${given.forgetBefore}`;
  const entry = sql`select cast(${given.digest} as text), cast(${given.expiresAt} as text)`;
  // Built once: otherwise it takes a quarter of the processor time of a login.
  const logIn = orm
    .update(passkeys)
    .set({
      counter: sql`${given.counter}`,
      lastUsedAt: now,
      usedStatements: sql`(select ${jsonObject}(key, value) from (select key, value from ${remembered} union all ${entry}) as used)`,
    })
    .where(
      and(
        eq(passkeys.id, given.id),
        or(
          lt(passkeys.counter, given.counter),
          and(eq(passkeys.counter, 0), eq(passkeys.counter, given.counter)),
        ),
        sql`not exists (select 1 from ${used} where key = ${given.digest})`,
        sql`(select count(*) from ${remembered}) < ${MAX_USED_STATEMENTS}`,
      ),
    )
    .returning({ id: passkeys.id })
    .prepare("use_passkey");

  /** Returns the user, or null if the condition is not met. */
  const incrementRevision = async (transaction: Orm, userId: number, condition?: SQL) => {
    const query = transaction.update(users).set({ passkeyRevision: sql`${users.passkeyRevision} + 1` });
    const [user = null] = await query.where(and(eq(users.id, userId), condition)).returning();
    return user;
  };

  /** An earlier release does not know this kind. */
  const notify = (transaction: Orm, userId: number) =>
    transaction.insert(outbox).values({ kind: "passkey", userId, dueAt: now, nextAttemptAt: null });

  return {
    /** Returns the passkey with what a login depends on of its user. */
    findById: async (id: string) => (await byId({ id }))[0] ?? null,
    /** The oldest first. */
    list: (userId: number) => oldestFirst({ userId }),
    /** Returns the number of passkeys of each of these users who has any. */
    count: async (userIds: readonly number[]) => {
      const { userId } = passkeys;
      const count = sql<number | string>`count(*)`;
      const ofUsers = inArray(userId, [...userIds]);
      const query = orm.select({ userId, count }).from(passkeys).where(ofUsers).groupBy(userId);
      const rows = await run(query);
      return new Map(rows.map((row) => [row.userId, Number(row.count)]));
    },
    /** Returns the user's handle, which is `candidate` if there was none; null if the user does not exist. */
    chooseUserHandle: async (userId: number, candidate: string) => {
      const handle = sql`coalesce(${passkeyUserHandle}, ${candidate})`;
      const query = orm.update(users).set({ passkeyUserHandle: handle }).where(eq(users.id, userId));
      return (await run(query.returning({ handle: passkeyUserHandle })))[0]?.handle ?? null;
    },
    /** Returns null if the condition is not met, the user has `MAX_PASSKEYS`, or the id is taken. */
    create: (
      passkey: Pick<Passkey, "id" | "userId" | "publicKey" | "counter" | "name">,
      { revision, tokenVersion, ...token }: PasskeyCondition,
      { notifies }: PasskeyChange,
    ) =>
      transact(async (transaction) => {
        const own = sql`(select count(*) from ${passkeys} where ${eq(passkeys.userId, passkey.userId)})`;
        // Of additions that run at the same time, one finds its revision. The others would count too few passkeys.
        const condition = and(
          isValidToken(users, token),
          eq(users.tokenVersion, tokenVersion),
          eq(users.passkeyRevision, revision),
          lt(own, MAX_PASSKEYS),
        );
        if (!(await incrementRevision(transaction, passkey.userId, condition))) return null;
        const query = transaction.insert(passkeys).values(passkey).onConflictDoNothing().returning();
        const [created = null] = await query;
        if (created && notifies) await notify(transaction, passkey.userId);
        return created;
      }),
    /**
     * Stores a login. Returns false if the passkey has used the statement or `MAX_USED_STATEMENTS`, if the counter has not grown
     * and one of the two is not 0, or if the passkey does not exist.
     */
    use: async ({ expiresAt, ...use }: PasskeyUse) =>
      (await attempt(() => logIn.execute({ ...use, expiresAt: String(expiresAt) }))).length > 0,
    /** Returns false if the condition is not met or the user has no such passkey. */
    delete: (id: string, userId: number, condition: ValidToken, { notifies }: PasskeyChange) =>
      transact(async (transaction) => {
        const own = and(eq(passkeys.id, id), eq(passkeys.userId, userId));
        const isOwn = exists(transaction.select({ id: passkeys.id }).from(passkeys).where(own));
        const isValid = and(isValidToken(users, condition), isOwn);
        if (!(await incrementRevision(transaction, userId, isValid))) return false;
        const query = transaction.delete(passkeys).where(own).returning({ id: passkeys.id });
        const isDeleted = (await query).length > 0;
        if (isDeleted && notifies) await notify(transaction, userId);
        return isDeleted;
      }),
    /** Returns the user, or null if the user does not exist. */
    deleteAll: (userId: number) =>
      transact(async (transaction) => {
        const user = await incrementRevision(transaction, userId);
        await transaction.delete(passkeys).where(eq(passkeys.userId, userId));
        return user;
      }),
  };
}
