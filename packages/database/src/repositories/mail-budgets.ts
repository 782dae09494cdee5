/**
 * The budgets of recipients, and the mails that are never sent. Invariant: any number of such mails is deleted in one statement, so a
 * flood of requests for them does not delay other mails, whether for unknown e-mails, one user or many.
 */
import { CODE_MAILS, hasCode } from "@latchkey/contracts";
import { and, eq, gt, inArray, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { OutboxRow, User } from "../tables.ts";
import { claimOrder } from "./claim-order.ts";
import type { ClaimedMail, Mail, MailBudget, MailPolicy, Recipient, SuppressedMails } from "./mail-policy.ts";

export const DAY_SECONDS = 24 * 60 * 60;
/** Limits how long a statement that reads or deletes mails blocks the event loop and other writes. */
const MAX_DELETED = 2000;
/** The kinds that a request for an e-mail writes. Without a user and a recipient, these mails lead nowhere. */
const REQUESTED = ["reset", "verification", "invitation", ...CODE_MAILS] as const;

type Counted = Pick<Mail, "id" | "kind" | "isFamiliar">;

/** A mail that is not sent stays in the outbox only if it counts in a budget or as a request of the user. */
export const isKept = ({ emailDigest, state, kind }: Pick<Mail, "emailDigest" | "state" | "kind">): boolean =>
  emailDigest !== null || (state !== null && !hasCode(kind));

export interface MailBudgets {
  /** Counts a mail in all budgets of its kind, or returns false if one of them is used up. */
  count(transaction: Orm, mail: Counted, recipient: Recipient, policy: MailPolicy): Promise<boolean>;
  /** Deletes the mails to unknown e-mails. */
  deleteToNobody(transaction: Orm): Promise<void>;
  /**
   * Deletes a claimed mail that is not sent, and of those that wait for a first attempt next to it, all that nobody wants or no budget
   * allows. Returns the deleted mails that a budget did not allow.
   * @param isSuppressed whether a budget did not allow the claimed mail
   */
  deleteUnsent(
    transaction: Orm,
    mail: Pick<OutboxRow, "id">,
    isSuppressed: boolean,
    policy: MailPolicy,
  ): Promise<readonly SuppressedMails[]>;
}

export function createMailBudgets({
  tables,
  later,
  skipLocked,
  lockText,
  isReturnedBy,
}: Dialect): MailBudgets {
  const { outbox, users } = tables;
  const isWaiting = isNotNull(outbox.nextAttemptAt);
  const isFirst = and(isWaiting, eq(outbox.attempts, 0));
  const leadsNowhere = and(
    isNull(outbox.userId),
    isNull(outbox.recipient),
    inArray(outbox.kind, [...REQUESTED]),
  );
  /** Not `isKept`. */
  const isDeletable = and(
    isFirst,
    isNotNull(outbox.userId),
    isNull(outbox.recipient),
    isNull(outbox.emailDigest),
    or(isNull(outbox.state), inArray(outbox.kind, [...CODE_MAILS])),
  );

  /** Deletes mails in one statement, except those that another transaction has locked. */
  const deleteAll = (transaction: Orm, condition: SQL | undefined) => {
    const selected = transaction.select({ id: outbox.id }).from(outbox).where(condition).limit(MAX_DELETED);
    const ids = sql`${outbox.id} ${isReturnedBy(sql`${selected.getSQL()} ${skipLocked}`)}`;
    const { id, kind, userId } = outbox;
    return transaction.delete(outbox).where(ids).returning({ id, kind, userId });
  };

  /** Returns which of the mailboxes have used up the budget. */
  const findUsedUp = async (transaction: Orm, budget: MailBudget, digests: readonly string[]) => {
    const { kinds, capacity, refillMs, recipients, separatesFamiliar } = budget;
    const { emailDigest, attemptedAt, isFamiliar } = outbox;
    const counted = and(
      inArray(emailDigest, [...digests]),
      inArray(outbox.kind, [...kinds]),
      gt(attemptedAt, later(-DAY_SECONDS)),
      recipients && eq(outbox.isRecipientVerified, recipients === "verified"),
    );
    const isUsedUp = sql`count(*) >= ${capacity} and max(${attemptedAt}) > ${later(-refillMs / 1000)}`;
    const familiar = separatesFamiliar ? isFamiliar : sql<null>`null`;
    const rows = await transaction
      .select({ emailDigest, familiar })
      .from(outbox)
      .where(counted)
      .groupBy(emailDigest, ...(separatesFamiliar ? [isFamiliar] : []))
      .having(isUsedUp);
    return (digest: string, mail: Pick<Mail, "isFamiliar">): boolean =>
      rows.some((row) => row.emailDigest === digest && (row.familiar ?? mail.isFamiliar) === mail.isFamiliar);
  };

  const limits = ({ kinds, recipients }: MailBudget, { kind }: Pick<Mail, "kind">, recipient: Recipient) =>
    kinds.includes(kind) && (!recipients || (recipients === "verified") === recipient.emailVerified);

  /**
   * The mails that wait for a first attempt and that such a claim could be for, in its order, with their users. One statement can delete
   * them and the claimed mail.
   */
  const readWaiting = async (transaction: Orm, { order = "oldest" }: MailPolicy) => {
    const { conditions, orderBy } = claimOrder(tables, order);
    const rows: OutboxRow[] = [];
    for (const condition of conditions) {
      const query = transaction.select().from(outbox).where(and(isDeletable, condition));
      rows.push(...(await query.orderBy(orderBy).limit(MAX_DELETED - 1 - rows.length)));
    }
    const userIds = [...new Set(rows.flatMap(({ userId }) => userId ?? []))];
    const found = await transaction.select().from(users).where(inArray(users.id, userIds));
    const usersById = new Map(found.map((user) => [user.id, user]));
    return rows.map((row) => ({ row, user: usersById.get(row.userId ?? 0) ?? null }));
  };

  /** Returns the ids of the mails that no budget allows. */
  const findSuppressed = async (
    transaction: Orm,
    mails: readonly { readonly row: OutboxRow; readonly user: User }[],
    { budgets, digestMailbox }: MailPolicy,
  ): Promise<number[]> => {
    const digests = new Map(mails.map(({ user }) => [user, ""]));
    for (const user of digests.keys()) digests.set(user, digestMailbox(user));
    const suppressed: number[] = [];
    for (const budget of budgets) {
      const limited = mails.filter(({ row, user }) => limits(budget, row, user));
      if (limited.length === 0) continue;
      const mailboxes = new Set(limited.map(({ user }) => digests.get(user) ?? ""));
      const isUsedUp = await findUsedUp(transaction, budget, [...mailboxes]);
      for (const { row, user } of limited)
        if (isUsedUp(digests.get(user) ?? "", row)) suppressed.push(row.id);
    }
    return suppressed;
  };

  return {
    async count(transaction, mail, recipient, { budgets, digestMailbox }) {
      const own = eq(outbox.id, mail.id);
      const emailDigest = digestMailbox(recipient);
      for (const budget of budgets) {
        if (!limits(budget, mail, recipient)) continue;
        // Waits for other transactions that count mails of the same recipient.
        const locked = lockText(emailDigest);
        await transaction.select({ locked }).from(outbox).where(own);
        const isUsedUp = await findUsedUp(transaction, budget, [emailDigest]);
        if (isUsedUp(emailDigest, mail)) return false;
      }
      const isRecipientVerified = recipient.emailVerified;
      await transaction.update(outbox).set({ emailDigest, isRecipientVerified }).where(own);
      return true;
    },

    async deleteToNobody(transaction) {
      await deleteAll(transaction, leadsNowhere);
    },

    async deleteUnsent(transaction, { id }, isSuppressed, policy) {
      const unwanted: number[] = [];
      const wanted: { readonly row: OutboxRow; readonly user: User }[] = [];
      for (const { row, user } of await readWaiting(transaction, policy)) {
        const mail: ClaimedMail = { ...row, user, recipient: user, isTaken: false };
        if (policy.isExpired(mail)) continue;
        if (user && policy.isWanted(mail)) wanted.push({ row, user });
        else unwanted.push(row.id);
      }
      const suppressed = new Set(await findSuppressed(transaction, wanted, policy));
      if (isSuppressed) suppressed.add(id);
      const ids = [...new Set([id, ...unwanted, ...suppressed])];
      const deleted = await deleteAll(
        transaction,
        and(inArray(outbox.id, ids), or(eq(outbox.id, id), isFirst)),
      );
      const counts = new Map<string, { kind: OutboxRow["kind"]; userId: number | null; count: number }>();
      for (const { kind, userId } of deleted.filter((mail) => suppressed.has(mail.id))) {
        const counted = counts.get(`${kind} ${userId}`) ?? { kind, userId, count: 0 };
        counted.count += 1;
        counts.set(`${kind} ${userId}`, counted);
      }
      return [...counts.values()];
    },
  };
}
