/**
 * The outbox in either database. Invariants: of several processes that claim, only one gets a mail, and mails to one
 * recipient are counted one after another, so that all replicas share its budget.
 */
import type { MailKind } from "@latchkey/contracts";
import { and, eq, gt, isNotNull, isNull, lt, lte, sql } from "drizzle-orm";
import type { OutboxRepository } from "./repositories.ts";
import type { Orm, RepositoryClient, Tables } from "./repository-client.ts";

const LEASE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * 60;
const LINKS = { mails: 3, pauseSeconds: 2 * 60 * 60 };
const NOTIFICATIONS = { mails: 5, pauseSeconds: DAY_SECONDS };
/**
 * Mails of one kind count together: so many in 24 hours, then a further one after each pause. The budgets are separate, because
 * anybody can cause the mails of an account that has a foreign e-mail, and must not prevent its owner's resets.
 */
const BUDGETS = { reset: LINKS, verification: LINKS, password: NOTIFICATIONS };
/** The digest of no e-mail: a mail of the operator is counted in no budget. */
const UNLIMITED = "";

export function createOutboxRepository(
  { orm, prepare, attempt, transact }: RepositoryClient,
  { outbox, users, now, later, skipLocked, lockText }: Tables,
): OutboxRepository {
  // PostgreSQL rounds the time of a new mail to milliseconds, also up.
  const isDue = lte(outbox.nextAttemptAt, later(0.001));
  const next = orm.select({ id: outbox.id }).from(outbox).where(isDue).orderBy(outbox.nextAttemptAt).limit(1);
  const due = prepare(next);
  const count = sql<number | string>`count(*)`;
  const isWaiting = isNotNull(outbox.nextAttemptAt);
  const waiting = prepare(orm.select({ count }).from(outbox).where(isWaiting));
  const isOld = and(isNull(outbox.nextAttemptAt), lt(outbox.attemptedAt, later(-DAY_SECONDS)));

  const run = async (query: { execute(): Promise<unknown> }): Promise<void> => {
    await attempt(() => query.execute());
  };

  /** Waits until other transactions have counted their mails to this recipient. */
  const countWithinBudget = async (transaction: Orm, id: number, kind: MailKind, emailDigest: string) => {
    const { mails, pauseSeconds } = BUDGETS[kind];
    const own = eq(outbox.id, id);
    const locked = lockText(emailDigest);
    await transaction.select({ locked }).from(outbox).where(own).execute();
    const counted = and(
      eq(outbox.emailDigest, emailDigest),
      eq(outbox.kind, kind),
      gt(outbox.attemptedAt, later(-DAY_SECONDS)),
    );
    const isPausing = sql<unknown>`max(${outbox.attemptedAt}) > ${later(-pauseSeconds)}`;
    const [found] = await transaction.select({ count, isPausing }).from(outbox).where(counted).execute();
    if (Number(found?.count) >= mails && found?.isPausing) return false;
    await transaction.update(outbox).set({ emailDigest }).where(own).execute();
    return true;
  };

  return {
    request: (kind, email, { isLimited = true } = {}) => {
      const userId = sql<number>`(select ${users.id} from ${users} where ${users.email} = ${email})`;
      return run(orm.insert(outbox).values({ kind, userId, emailDigest: isLimited ? null : UNLIMITED }));
    },
    claim: async (digestMailbox) => {
      // Without this query, each process would lock the embedded database every second.
      if ((await due({})).length === 0) return null;
      return transact(async (transaction) => {
        const [mail] = await transaction
          .update(outbox)
          .set({
            attempts: sql`${outbox.attempts} + 1`,
            attemptedAt: now,
            nextAttemptAt: later(LEASE_SECONDS),
          })
          .where(eq(outbox.id, sql`(${next.getSQL()} ${skipLocked})`))
          .returning()
          .execute();
        if (!mail) return null;
        const { id, kind, userId, emailDigest } = mail;
        const recipient = eq(users.id, userId ?? 0);
        const [user = null] = await transaction.select().from(users).where(recipient).execute();
        const isCounted =
          emailDigest !== null ||
          (user !== null && (await countWithinBudget(transaction, id, kind, digestMailbox(user))));
        return { ...mail, user, isWithinBudget: isCounted };
      });
    },
    finish: (id) => run(orm.update(outbox).set({ nextAttemptAt: null }).where(eq(outbox.id, id))),
    postpone: ({ id, attempts }, seconds) => {
      const nextAttemptAt = later(seconds);
      // Not if a revocation has ended the reset meanwhile.
      const claimed = and(eq(outbox.id, id), eq(outbox.attempts, attempts), isWaiting);
      return run(orm.update(outbox).set({ nextAttemptAt }).where(claimed));
    },
    delete: (id) => run(orm.delete(outbox).where(eq(outbox.id, id))),
    deleteOld: () => run(orm.delete(outbox).where(isOld)),
    count: async () => Number((await waiting({}))[0]?.count),
  };
}
