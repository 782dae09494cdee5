/**
 * The outbox in either database. Invariants: of several processes that claim, only one gets a mail, and mails to one
 * recipient are counted one after another, so that all replicas share its budget.
 */
import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, ne, sql } from "drizzle-orm";
import type { MailKind, OutboxRepository } from "./repositories.ts";
import type { Orm, RepositoryClient, Tables } from "./repository-client.ts";

interface Budget {
  /** Mails of these kinds count together. */
  readonly kinds: readonly [MailKind, ...MailKind[]];
  /** In 24 hours. */
  readonly mails: number;
  /** After this pause, a further mail is sent. */
  readonly pauseSeconds: number;
}

const LEASE_SECONDS = 60;
const DAY_SECONDS = 24 * 60 * 60;
const LINKS: Budget = { kinds: ["reset", "verification"], mails: 3, pauseSeconds: 2 * 60 * 60 };
const NOTIFICATIONS: Budget = { kinds: ["password"], mails: 5, pauseSeconds: DAY_SECONDS };

export function createOutboxRepository(
  { orm, prepare, attempt, transact }: RepositoryClient,
  { outbox, users, now, later, skipLocked, lockText }: Tables,
): OutboxRepository {
  // PostgreSQL rounds the time of a new mail to milliseconds, also up.
  const isDue = lte(outbox.nextAttemptAt, later(0.001));
  const due = prepare(orm.select({ id: outbox.id }).from(outbox).where(isDue).limit(1));
  const count = sql<number | string>`count(*)`;
  const waiting = prepare(orm.select({ count }).from(outbox).where(isNotNull(outbox.nextAttemptAt)));

  const insert = async (kind: MailKind, userId: number | ReturnType<typeof sql<number>>): Promise<void> => {
    await attempt(() => orm.insert(outbox).values({ kind, userId }).execute());
  };

  /** Waits until other transactions have counted their mails to this recipient. */
  const isWithinBudget = async (
    transaction: Orm,
    { id, kind }: { readonly id: number; readonly kind: MailKind },
    digest: string,
  ): Promise<boolean> => {
    const { kinds, mails, pauseSeconds } = kind === "password" ? NOTIFICATIONS : LINKS;
    const own = eq(outbox.id, id);
    await transaction
      .select({ locked: lockText(digest) })
      .from(outbox)
      .where(own)
      .execute();
    const countSince = async (seconds: number): Promise<number> => {
      const counted = and(
        eq(outbox.emailDigest, digest),
        inArray(outbox.kind, [...kinds]),
        gt(outbox.attemptedAt, later(-seconds)),
        ne(outbox.id, id),
      );
      const rows = await transaction.select({ count }).from(outbox).where(counted).execute();
      return Number(rows[0]?.count);
    };
    if ((await countSince(DAY_SECONDS)) >= mails && (await countSince(pauseSeconds)) > 0) return false;
    await transaction.update(outbox).set({ emailDigest: digest }).where(own).execute();
    return true;
  };

  return {
    requestReset: (email) =>
      insert("reset", sql<number>`(select ${users.id} from ${users} where ${users.email} = ${email})`),
    requestVerification: (userId) => insert("verification", userId),
    hasDue: async () => (await due({})).length > 0,
    claim: (digestEmail) =>
      transact(async (transaction) => {
        const next = transaction
          .select({ id: outbox.id })
          .from(outbox)
          .where(isDue)
          .orderBy(asc(outbox.nextAttemptAt))
          .limit(1);
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
        const { id, kind, createdAt, attempts, userId, emailDigest } = mail;
        const [user = null] =
          userId === null ? [] : await transaction.select().from(users).where(eq(users.id, userId)).execute();
        const isCounted =
          emailDigest !== null ||
          (user !== null && (await isWithinBudget(transaction, mail, digestEmail(user.email))));
        return { id, kind, createdAt, attempts, user, isWithinBudget: isCounted };
      }),
    finish: async (id) => {
      await attempt(() => orm.update(outbox).set({ nextAttemptAt: null }).where(eq(outbox.id, id)).execute());
    },
    postpone: async ({ id, attempts }, seconds) => {
      const claimed = and(eq(outbox.id, id), eq(outbox.attempts, attempts));
      await attempt(() =>
        orm
          .update(outbox)
          .set({ nextAttemptAt: later(seconds) })
          .where(claimed)
          .execute(),
      );
    },
    delete: async (id) => {
      await attempt(() => orm.delete(outbox).where(eq(outbox.id, id)).execute());
    },
    deleteOld: async () => {
      const old = and(isNull(outbox.nextAttemptAt), lt(outbox.attemptedAt, later(-DAY_SECONDS)));
      await attempt(() => orm.delete(outbox).where(old).execute());
    },
    count: async () => Number((await waiting({}))[0]?.count),
  };
}
