/**
 * The outbox in either database. Invariants: of several processes that claim, only one gets a mail, and mails to one
 * recipient are counted one after another, so that all replicas share its budget.
 */
import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Mail, MailPolicy, OutboxRepository } from "./repositories.ts";
import type { Orm, RepositoryClient, Tables } from "./repository-client.ts";

const LEASE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * 60;

/** The digest of no e-mail: a mail of the operator is counted in no budget. */
const UNLIMITED = "";

export function createOutboxRepository(
  { orm, prepare, attempt, transact }: RepositoryClient,
  { outbox, users, now, later, skipLocked, lockText }: Tables,
): OutboxRepository {
  const queues = [outbox.nextAttemptAt, outbox.dueAt].map((time) => {
    // PostgreSQL rounds the time of a new mail to milliseconds, also up.
    const isDue = lte(time, later(0.001));
    const next = orm.select({ id: outbox.id }).from(outbox).where(isDue).orderBy(time).limit(1);
    return { next: next.getSQL(), due: prepare(next) };
  });
  /** Changes the time by which the mail waits. */
  const waitFor = (seconds: number) => ({
    nextAttemptAt: sql`case when ${outbox.nextAttemptAt} is not null then ${later(seconds)} end`,
    dueAt: sql`case when ${outbox.dueAt} is not null then ${later(seconds)} end`,
  });
  const count = sql<number | string>`count(*)`;
  const isWaiting = or(isNotNull(outbox.nextAttemptAt), isNotNull(outbox.dueAt));
  const waiting = prepare(orm.select({ count }).from(outbox).where(isWaiting));
  const isOld = and(
    isNull(outbox.nextAttemptAt),
    isNull(outbox.dueAt),
    lt(outbox.attemptedAt, later(-DAY_SECONDS)),
  );

  const run = async (query: { execute(): Promise<unknown> }): Promise<void> => {
    await attempt(() => query.execute());
  };

  const countWithinBudget = async (
    transaction: Orm,
    { id, kind, userId }: Pick<Mail, "id" | "kind" | "userId">,
    emailDigest: string,
    budgets: MailPolicy["budgets"],
  ): Promise<boolean> => {
    const own = eq(outbox.id, id);
    for (const { per, kinds, capacity, refillMs } of budgets) {
      if (!kinds.includes(kind)) continue;
      const [owner, ofOwner] =
        per === "user"
          ? [`user ${userId}`, eq(outbox.userId, userId ?? 0)]
          : [emailDigest, eq(outbox.emailDigest, emailDigest)];
      // Waits until other transactions have counted their mails of this owner.
      const locked = lockText(owner);
      await transaction.select({ locked }).from(outbox).where(own).execute();
      const counted = and(
        ofOwner,
        isNotNull(outbox.emailDigest),
        inArray(outbox.kind, [...kinds]),
        gt(outbox.attemptedAt, later(-DAY_SECONDS)),
      );
      const isPausing = sql<unknown>`max(${outbox.attemptedAt}) > ${later(-refillMs / 1000)}`;
      const [found] = await transaction.select({ count, isPausing }).from(outbox).where(counted).execute();
      if (Number(found?.count) >= capacity && found?.isPausing) return false;
    }
    await transaction.update(outbox).set({ emailDigest }).where(own).execute();
    return true;
  };

  /** @param next selects the id */
  const claim = async (transaction: Orm, next: SQL, policy: MailPolicy): Promise<Mail | null> => {
    const [mail] = await transaction
      .update(outbox)
      .set({ attempts: sql`${outbox.attempts} + 1`, attemptedAt: now, ...waitFor(LEASE_SECONDS) })
      .where(eq(outbox.id, sql`(${next} ${skipLocked})`))
      .returning()
      .execute();
    if (!mail) return null;
    const { recipient: email, isRecipientVerified, ...row } = mail;
    const found = (condition: SQL) => transaction.select().from(users).where(condition).execute();
    const [user = null] = await found(eq(users.id, row.userId ?? 0));
    const recipient = email === null ? user : { email, emailVerified: isRecipientVerified ?? false };
    const isTaken = email !== null && (await found(eq(users.email, email))).length > 0;
    const isCounted =
      row.emailDigest !== null ||
      (recipient !== null &&
        (await countWithinBudget(transaction, row, policy.digestMailbox(recipient), policy.budgets)));
    return { ...row, user, recipient, isTaken, isWithinBudget: isCounted };
  };

  return {
    request: (kind, email, { isLimited = true } = {}) => {
      const userId = sql<number>`(select ${users.id} from ${users} where ${users.email} = ${email})`;
      return run(orm.insert(outbox).values({ kind, userId, emailDigest: isLimited ? null : UNLIMITED }));
    },
    requestEmailChange: (request) =>
      run(orm.insert(outbox).values({ kind: "email-change", ...request, nextAttemptAt: null, dueAt: now })),
    claim: async (policy) => {
      for (const { next, due } of queues) {
        // Without this query, each process would lock the embedded database every second.
        if ((await due({})).length === 0) continue;
        const mail = await transact((transaction) => claim(transaction, next, policy));
        if (mail) return mail;
      }
      return null;
    },
    finish: (id) => {
      const finished = { nextAttemptAt: null, dueAt: null, recipient: null };
      return run(orm.update(outbox).set(finished).where(eq(outbox.id, id)));
    },
    postpone: ({ id, attempts }, seconds) => {
      // Not if a revocation has ended the reset meanwhile.
      const claimed = and(eq(outbox.id, id), eq(outbox.attempts, attempts), isWaiting);
      return run(orm.update(outbox).set(waitFor(seconds)).where(claimed));
    },
    delete: (id) => run(orm.delete(outbox).where(eq(outbox.id, id))),
    deleteOld: () => run(orm.delete(outbox).where(isOld)),
    count: async () => Number((await waiting({}))[0]?.count),
  };
}
