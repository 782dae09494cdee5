/**
 * Second factors. Invariants: an attempt is counted before its code is compared, so parallel guesses cannot exceed the limit; a code is
 * accepted once over all replicas, and none of an earlier time step after it; only an accepted code, a new factor or an operator ends
 * the count. Each change of a factor locks the user and ends all tokens of the user.
 */
import { and, eq, gt, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { Factor, User } from "../tables.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createUserChanges } from "./user-changes.ts";

/** The time of the migration that creates the table, in milliseconds since the epoch, as in the history of migrations. */
const MIGRATION_TIME = 1_795_840_883_471;
/** Earlier releases do not ask for the factor, so they must not start once a user has one. */
const OLDEST_RELEASE = "2.1.0-0";
/** The oldest release that can run on the schema while no user has a factor: the first line of the migration. */
const OLDEST_RELEASE_WITHOUT = "1.0.0";

/** Attempts without a success that disable the factor (SP 800-63B-4, 3.2.2). */
export const MAX_FACTOR_FAILURES = 100;
/** From so many failures on, an attempt is possible only so many seconds after the latest one. The first ones need no pause. */
const PAUSES = [
  { failures: 5, seconds: 60 },
  { failures: 10, seconds: 15 * 60 },
  { failures: 20, seconds: 60 * 60 },
] as const;
const [{ failures: FREE_FAILURES }] = PAUSES;
/** The failures that notify the user, because somebody else can have the password. */
const NOTIFIED_FAILURES = 5;
/** A failure further in the future than this is ignored: a wrong clock must not lock the owner out. */
const CLOCK_DIFFERENCE_SECONDS = 60;
const NOTIFICATION_PAUSE_SECONDS = 24 * 60 * 60;

/** A factor before it is stored. */
export type NewFactor = Pick<Factor, "id" | "secret" | "keyId" | "lastStep" | "recoveryCodes">;

/** What a request with a code proved: the user, and the factor that the code belongs to. */
export type FactorOwner = Pick<Factor, "userId" | "id">;

/**
 * `counted`: the code may be compared; `notifies`: if it is wrong, the user has to be notified. `paused`: only after
 * `retryAfterSeconds`. `locked`: only recovery codes are accepted. `missing`: the user has another factor, or none.
 */
export type FactorAttempt =
  | { readonly result: "counted"; readonly notifies: boolean }
  | { readonly result: "locked" | "missing" }
  | { readonly result: "paused"; readonly retryAfterSeconds: number };

interface FactorChange {
  /** Whether a notification is written to the outbox together with the change. @default false */
  readonly notifies?: boolean;
}

export interface FactorRepository {
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
  /** Counts an attempt, by the database's clock. */
  countAttempt(owner: FactorOwner): Promise<FactorAttempt>;
  /** Notifies the user of wrong codes, at most once a day, so that nobody can send mails to the owner without end. */
  notifyOfFailures(userId: number): Promise<void>;
  /** Returns the time until the next possible attempt, or 0. */
  pauseSeconds(userId: number): Promise<number>;
  /** Ends the count. Returns false if a code of this time step or a later one was accepted before. */
  acceptStep(owner: FactorOwner, step: number): Promise<boolean>;
  /** Deletes the recovery code. Returns how many remain, or null if the factor does not have it. */
  useRecoveryCode(owner: FactorOwner, digest: string, options: FactorChange): Promise<number | null>;
  /** Returns false if the user has another factor, or none, or does not meet the condition. */
  replaceRecoveryCodes(owner: FactorOwner, digests: string, condition: Guard): Promise<boolean>;
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

export function createFactorRepository(client: RepositoryClient, dialect: Dialect): FactorRepository {
  const { orm, run, transact } = client;
  const { tables, clock, later, secondsUntil, jsonElements, jsonArray } = dialect;
  const { factors, users, outbox } = tables;
  const { failures, failedAt } = factors;
  const { lock, update, revocation } = createUserChanges(dialect);

  const isOwn = ({ userId, id }: FactorOwner) => and(eq(factors.userId, userId), eq(factors.id, id));

  /** The seconds between the latest attempt and the next possible one, by the number of failures. */
  const pause = sql<number>`case ${sql.join(
    [...PAUSES].reverse().map((one) => sql`when ${failures} >= ${one.failures} then ${one.seconds}`),
    sql` `,
  )} else 0 end`;

  /** The seconds until the next possible attempt, negative in the past. */
  const remaining = sql<number | string>`${secondsUntil(failedAt)} + ${pause}`;

  const find = async (userId: number) =>
    (await run(orm.select().from(factors).where(eq(factors.userId, userId))))[0] ?? null;

  return {
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
        if (notifies) await transaction.insert(outbox).values({ kind: "factor", userId });
        return user;
      }),
    countAttempt: (owner) =>
      transact(async (transaction) => {
        const isPossible = or(
          lt(failures, FREE_FAILURES),
          isNull(failedAt),
          sql`${remaining} <= 0`,
          sql`${secondsUntil(failedAt)} > ${CLOCK_DIFFERENCE_SECONDS}`,
        );
        const counted = transaction.update(factors).set({ failures: sql`${failures} + 1`, failedAt: clock });
        const condition = and(isOwn(owner), lt(failures, MAX_FACTOR_FAILURES), isPossible);
        const [row] = await counted.where(condition).returning({ failures });
        if (row) return { result: "counted", notifies: row.failures === NOTIFIED_FAILURES };
        const [found] = await transaction.select({ failures, remaining }).from(factors).where(isOwn(owner));
        if (!found) return { result: "missing" };
        if (found.failures >= MAX_FACTOR_FAILURES) return { result: "locked" };
        return { result: "paused", retryAfterSeconds: Math.max(1, Math.ceil(Number(found.remaining))) };
      }),
    notifyOfFailures: async (userId) => {
      const isRecent = and(
        eq(outbox.userId, userId),
        eq(outbox.kind, "factor-failures"),
        gt(outbox.createdAt, later(-NOTIFICATION_PAUSE_SECONDS)),
      );
      const row = sql`select 'factor-failures', ${userId} where not exists (select 1 from ${outbox} where ${isRecent})`;
      await run(orm.execute(sql`insert into ${outbox} (kind, user_id) ${row}`));
    },
    pauseSeconds: async (userId) => {
      const isCounted = sql`${secondsUntil(failedAt)} <= ${CLOCK_DIFFERENCE_SECONDS}`;
      const own = and(eq(factors.userId, userId), isCounted);
      const query = orm.select({ remaining, failures }).from(factors).where(own);
      const [found] = await run(query);
      return found && found.failures >= FREE_FAILURES ? Math.max(0, Number(found.remaining)) : 0;
    },
    acceptStep: async (owner, step) => {
      const values = { lastStep: step, failures: 0, failedAt: null, lastUsedAt: clock };
      const query = orm.update(factors).set(values);
      const accepted = query.where(and(isOwn(owner), lt(factors.lastStep, step)));
      return (await run(accepted.returning({ id: factors.id }))).length > 0;
    },
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
        if (notifies)
          await transaction.insert(outbox).values({ kind: "recovery-code", userId: owner.userId });
        return parseRecoveryCodes(row).length;
      }),
    replaceRecoveryCodes: (owner, recoveryCodes, condition) =>
      transact(async (transaction) => {
        if (!(await lock(transaction, owner.userId, meetsGuard(users, condition)))) return false;
        const query = transaction.update(factors).set({ recoveryCodes });
        return (await query.where(isOwn(owner)).returning({ id: factors.id })).length > 0;
      }),
    delete: (userId, { notifies = false, condition }) =>
      transact(async (transaction) => {
        const has = sql`${users.factorId} is not null`;
        const selection = and(eq(users.id, userId), has, condition && meetsGuard(users, condition));
        const user = await update(transaction, { factorId: null, ...revocation() }, selection);
        if (!user) return null;
        await transaction.delete(factors).where(eq(factors.userId, userId));
        if (notifies) await transaction.insert(outbox).values({ kind: "factor-removed", userId });
        return user;
      }),
    deleteAll: () =>
      transact(async (transaction) => {
        await setOldestRelease(transaction, dialect, OLDEST_RELEASE_WITHOUT);
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
