/**
 * Attempts with codes of second factors. Invariants: an attempt is counted before its code is compared, so parallel guesses cannot exceed
 * the limit; a code is accepted once over all replicas, and none of an earlier time step after it; only an accepted code, a new factor or
 * an operator ends the count.
 */
import { and, eq, gt, isNull, lt, or, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { Factor } from "../tables.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";

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

/** What a request with a code proved: the user, and the factor that the code belongs to. */
export type FactorOwner = Pick<Factor, "userId" | "id">;

/**
 * `counted`: the code may be compared; `notifies`: if it is wrong, the user has to be notified. `paused`: only after
 * `retryAfterSeconds`. `locked`: only recovery codes are accepted. `missing`: the user has another factor, or none.
 */
export type FactorAttempt =
  | { readonly result: "counted"; readonly factor: Factor; readonly notifies: boolean }
  | { readonly result: "locked" }
  | { readonly result: "missing" }
  | { readonly result: "paused"; readonly retryAfterSeconds: number };

export interface FactorAttempts {
  /** Counts an attempt, by the database's clock. */
  countAttempt(owner: FactorOwner): Promise<FactorAttempt>;
  /** Notifies the user of wrong codes, at most once a day, so that nobody can send mails to the owner without end. */
  notifyOfFailures(userId: number): Promise<void>;
  /** Returns the time until the next possible attempt, or 0. */
  pauseSeconds(userId: number): Promise<number>;
  /** Ends the count. Returns false if a code of this time step or a later one was accepted before. */
  acceptStep(owner: FactorOwner, step: number): Promise<boolean>;
}

export function createFactorAttempts(client: RepositoryClient, dialect: Dialect): FactorAttempts {
  const { orm, prepare, run } = client;
  const { tables, clock, later, secondsUntil } = dialect;
  const { factors, outbox, users } = tables;
  const { failures, failedAt } = factors;

  const isOwn = ({ userId, id }: FactorOwner) => and(eq(factors.userId, userId), eq(factors.id, id));

  /** The seconds between the latest attempt and the next possible one, by the number of failures. */
  const pause = sql<number>`case ${sql.join(
    [...PAUSES].reverse().map((one) => sql`when ${failures} >= ${one.failures} then ${one.seconds}`),
    sql` `,
  )} else 0 end`;

  /** The seconds until the next possible attempt, negative in the past. */
  const remaining = sql<number | string>`${secondsUntil(failedAt)} + ${pause}`;

  const isPossible = sql<boolean | number>`(${and(
    lt(failures, MAX_FACTOR_FAILURES),
    or(
      lt(failures, FREE_FAILURES),
      isNull(failedAt),
      sql`${remaining} <= 0`,
      sql`${secondsUntil(failedAt)} > ${CLOCK_DIFFERENCE_SECONDS}`,
    ),
  )})`;

  const given = placeholders("userId");
  /** The attempts as they are counted, and whether another one is possible now. */
  const counts = { id: factors.id, failures, remaining, isPossible };
  const countsByUser = prepare(orm.select(counts).from(factors).where(eq(factors.userId, given.userId)));
  type Counts = Awaited<ReturnType<typeof countsByUser>>[number];
  const explainRefusal = ({ id }: FactorOwner, found: Counts | undefined): FactorAttempt => {
    if (found?.id !== id) return { result: "missing" };
    if (found.failures >= MAX_FACTOR_FAILURES) return { result: "locked" };
    return { result: "paused", retryAfterSeconds: Math.max(1, Math.ceil(Number(found.remaining))) };
  };

  /** The attempts of factors that this process counts. */
  const running = new Map<string, Promise<unknown>>();

  const count = async (owner: FactorOwner): Promise<FactorAttempt> => {
    const counted = orm.update(factors).set({ failures: sql`${failures} + 1`, failedAt: clock });
    const [factor] = await run(counted.where(and(isOwn(owner), isPossible)).returning());
    if (factor) return { result: "counted", factor, notifies: factor.failures === NOTIFIED_FAILURES };
    return explainRefusal(owner, (await countsByUser({ userId: owner.userId }))[0]);
  };

  return {
    /** Parallel attempts wait for the one that is counted. Most of a flood is then refused by a read, and delays no write. */
    countAttempt: async (owner) => {
      for (;;) {
        const [found] = await countsByUser({ userId: owner.userId });
        if (found?.id !== owner.id || !found.isPossible) return explainRefusal(owner, found);
        const other = running.get(owner.id);
        if (!other) break;
        await other;
      }
      const attempt = count(owner).finally(() => running.delete(owner.id));
      running.set(owner.id, attempt);
      return attempt;
    },
    notifyOfFailures: async (userId) => {
      const isRecent = and(
        eq(outbox.userId, userId),
        eq(outbox.kind, "factor-failures"),
        gt(outbox.createdAt, later(-NOTIFICATION_PAUSE_SECONDS)),
      );
      const isFirst = sql`not exists (select 1 from ${outbox} where ${isRecent})`;
      const row = sql`select 'factor-failures', ${users.id}, ${users.emailVerified} from ${users} where ${eq(users.id, userId)} and ${isFirst}`;
      await run(orm.execute(sql`insert into ${outbox} (kind, user_id, is_recipient_verified) ${row}`));
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
  };
}
