/** Second factors. Invariant: each change of a factor locks the user and ends all tokens of the user. */
import { and, eq, gt, isNull, ne, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { Factor, User } from "../tables.ts";
import { createFactorAttempts, type FactorAttempts, type FactorOwner } from "./factor-attempts.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertMail } from "./insert-mail.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";
import { createUserChanges } from "./user-changes.ts";

/** The time of the migration that creates the table, in milliseconds since the epoch, as in the history of migrations. */
const MIGRATION_TIME = 1_795_840_883_471;
/** Earlier releases do not ask for the factor, so they must not start once a user has one. */
const OLDEST_RELEASE = "2.1.0-0";
/** The oldest release that can run on the schema while no user has a factor: the first line of the migration. */
const OLDEST_RELEASE_WITHOUT = "1.0.0";

/** A factor before it is stored. */
export type NewFactor = Pick<Factor, "id" | "secret" | "keyId" | "lastStep" | "recoveryCodes">;

interface FactorChange {
  /** Whether a notification is written to the outbox together with the change. @default false */
  readonly notifies?: boolean;
}

export interface FactorRepository extends FactorAttempts {
  find(userId: number): Promise<Factor | null>;
  /** Whether the user has a factor that no takeover ends, because the e-mail was verified when it was enrolled. */
  protects(user: Pick<User, "id" | "factorId">): Promise<boolean>;
  /** Does nothing. @throws if the service lacks the privilege that the first enrolment needs */
  checkPrivileges(): Promise<void>;
  /**
   * Stores the factor instead of an earlier one, revokes all tokens, and keeps releases that do not ask for the factor from
   * starting. Returns the user, or null if the condition is not met, or the user has another factor than `replaced`.
   */
  create(
    factor: NewFactor,
    user: Pick<User, "id" | "emailVerified">,
    condition: Guard,
    options: FactorChange & { readonly replaced: string | null },
  ): Promise<User | null>;
  /** Deletes the recovery code. Returns how many remain, or null if the factor does not have it. */
  useRecoveryCode(owner: FactorOwner, digest: string, options: FactorChange): Promise<number | null>;
  /** Returns false if the user has another factor, or none, or does not meet the condition. */
  replaceRecoveryCodes(
    owner: FactorOwner,
    digests: string,
    condition: Guard,
    options: FactorChange,
  ): Promise<boolean>;
  /**
   * Deletes the factor and revokes all tokens. Returns the user, or null if the user has no factor or does not meet the condition.
   * @param condition the owner's token. @default none: an operator removes it
   */
  delete(userId: number, options: FactorChange & { readonly condition?: Guard }): Promise<User | null>;
  /** Deletes all factors, and lets earlier releases start again. Returns the number of factors. */
  deleteAll(): Promise<number>;
  /** Returns the ids of all keys that encrypt a factor. Reads one row per key. */
  listKeyIds(): Promise<string[]>;
  /** Returns factors of other keys than this one, after the user with the id `after`, in ascending order of user id. */
  listOfOtherKeys(keyId: string, page: { readonly after: number; readonly limit: number }): Promise<Factor[]>;
  /** Replaces the encrypted secret. Does nothing if the factor was changed since `factor` was read. */
  rekey(factor: Factor, encrypted: Pick<Factor, "secret" | "keyId">): Promise<void>;
  /** Returns the number of factors. */
  count(): Promise<number>;
}

/** Also locks the record, so that an enrolment beside the removal of all factors is either removed or marks the database again. */
const setOldestRelease = (transaction: Orm, { migrationRecords }: Dialect, release: string) =>
  transaction.execute(
    sql`update ${migrationRecords} set oldest_release = ${release} where created_at = ${MIGRATION_TIME}`,
  );

/** Keeps releases that do not ask for second factors from starting. In the transaction that stores one. */
export const excludeEarlierReleases = (transaction: Orm, dialect: Dialect) =>
  setOldestRelease(transaction, dialect, OLDEST_RELEASE);

/** Lets earlier releases start again. In the transaction that deletes all second factors. */
export const admitEarlierReleases = (transaction: Orm, dialect: Dialect) =>
  setOldestRelease(transaction, dialect, OLDEST_RELEASE_WITHOUT);

export function createFactorRepository(client: RepositoryClient, dialect: Dialect): FactorRepository {
  const { orm, prepare, run, transact } = client;
  const { tables, clock, jsonElements, jsonArray } = dialect;
  const { factors, users } = tables;
  const { lock, update, revocation } = createUserChanges(dialect);

  const isOwn = ({ userId, id }: FactorOwner) => and(eq(factors.userId, userId), eq(factors.id, id));

  const byUser = prepare(
    orm
      .select()
      .from(factors)
      .where(eq(factors.userId, placeholders("userId").userId)),
  );
  const find = async (userId: number) => (await byUser({ userId }))[0] ?? null;

  return {
    ...createFactorAttempts(client, dialect),
    find,
    protects: async ({ id, factorId }) => factorId !== null && (await find(id))?.wasVerified !== false,
    checkPrivileges: async () => {
      const records = dialect.migrationRecords;
      await run(orm.execute(sql`update ${records} set oldest_release = oldest_release where created_at = 0`));
    },
    create: (factor, { id: userId, emailVerified }, condition, { notifies = false, replaced }) =>
      transact(async (transaction) => {
        const has = replaced === null ? isNull(users.factorId) : eq(users.factorId, replaced);
        const selection = and(
          eq(users.id, userId),
          meetsGuard(users, condition),
          eq(users.tokenVersion, condition.version),
          eq(users.emailVerified, emailVerified),
          has,
        );
        const user = await update(transaction, { factorId: factor.id, ...revocation() }, selection);
        if (!user) return null;
        await transaction.delete(factors).where(eq(factors.userId, userId));
        await transaction.insert(factors).values({ ...factor, userId, wasVerified: emailVerified });
        await excludeEarlierReleases(transaction, dialect);
        if (notifies) await insertMail(transaction, dialect, { kind: "factor", userId });
        return user;
      }),
    useRecoveryCode: (owner, digest, { notifies = false }) =>
      transact(async (transaction) => {
        const codes = jsonElements(factors.recoveryCodes);
        const query = transaction.update(factors).set({
          recoveryCodes: sql`(select ${jsonArray} from ${codes} where value <> ${digest})`,
          lastUsedAt: clock,
        });
        const has = sql`exists (select 1 from ${codes} where value = ${digest})`;
        const [row] = await query.where(and(isOwn(owner), has)).returning();
        if (!row) return null;
        if (notifies) await insertMail(transaction, dialect, { kind: "recovery-code", userId: owner.userId });
        return parseRecoveryCodes(row).length;
      }),
    replaceRecoveryCodes: (owner, recoveryCodes, condition, { notifies = false }) =>
      transact(async (transaction) => {
        const { userId } = owner;
        if (!(await lock(transaction, userId, meetsGuard(users, condition)))) return false;
        const query = transaction.update(factors).set({ recoveryCodes });
        const changed = await query.where(isOwn(owner)).returning({ id: factors.id });
        if (changed.length === 0) return false;
        if (notifies) await insertMail(transaction, dialect, { kind: "factor", userId });
        return true;
      }),
    delete: (userId, { notifies = false, condition }) =>
      transact(async (transaction) => {
        const has = sql`${users.factorId} is not null`;
        const selection = and(eq(users.id, userId), has, condition && meetsGuard(users, condition));
        const user = await update(transaction, { factorId: null, ...revocation() }, selection);
        if (!user) return null;
        await transaction.delete(factors).where(eq(factors.userId, userId));
        if (notifies) await insertMail(transaction, dialect, { kind: "factor-removed", userId });
        return user;
      }),
    deleteAll: () =>
      transact(async (transaction) => {
        await admitEarlierReleases(transaction, dialect);
        const removed = await transaction.delete(factors).returning({ userId: factors.userId });
        const has = sql`${users.factorId} is not null`;
        await transaction
          .update(users)
          .set({ factorId: null, ...revocation() })
          .where(has);
        return removed.length;
      }),
    listKeyIds: async () => {
      const keyIds: string[] = [];
      for (let after = ""; ; ) {
        const query = orm.select({ keyId: factors.keyId }).from(factors).where(gt(factors.keyId, after));
        const [next] = await run(query.orderBy(factors.keyId).limit(1));
        if (!next) return keyIds;
        keyIds.push(next.keyId);
        after = next.keyId;
      }
    },
    listOfOtherKeys: (keyId, { after, limit }) => {
      const others = and(ne(factors.keyId, keyId), gt(factors.userId, after));
      return run(orm.select().from(factors).where(others).orderBy(factors.userId).limit(limit));
    },
    rekey: async ({ userId, id, keyId }, encrypted) => {
      const unchanged = and(isOwn({ userId, id }), eq(factors.keyId, keyId));
      await run(orm.update(factors).set(encrypted).where(unchanged).returning({ id: factors.id }));
    },
    count: async () => {
      const count = sql<number | string>`count(*)`;
      return Number((await run(orm.select({ count }).from(factors)))[0]?.count);
    },
  };
}

/** The column contains what this module's callers have stored. */
export const parseRecoveryCodes = ({ recoveryCodes }: Pick<Factor, "recoveryCodes">): string[] =>
  JSON.parse(recoveryCodes);
