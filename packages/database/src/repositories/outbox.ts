/**
 * The outbox. Invariants: at any time, each mail is claimed by at most one process. Mails to one recipient
 * are counted one after another, because all replicas share the recipient's budget.
 */
import { emailForms, type MailKind } from "@latchkey/contracts";
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { OutboxRow, User } from "../tables.ts";
import { matchEmailForms } from "./email-forms.ts";
import { createOutboxCount } from "./outbox-count.ts";
import type { RepositoryClient } from "./repository-client.ts";

/** An e-mail address, and whether a user has verified the address. */
export type Recipient = Pick<User, "email" | "emailVerified">;

/**
 * Allows a recipient `capacity` mails of these kinds in 24 hours. Then allows one more mail whenever `refillMs` have passed
 * since the latest mail.
 */
export interface MailBudget {
  /** Limits and counts only mails to addresses that are verified, or are not. @default all */
  readonly recipients?: "verified" | "unverified";
  readonly kinds: readonly MailKind[];
  readonly capacity: number;
  readonly refillMs: number;
}

export interface MailPolicy {
  /** Recipients with the same digest share their budgets. */
  readonly digestMailbox: (recipient: Recipient) => string;
  /** A mail is sent if all budgets of its `kind` allow the mail. All processes lock the budgets in the order of this array. */
  readonly budgets: readonly MailBudget[];
  /** Whether the mail can be sent. A mail that cannot be sent does not count. Discard it. */
  readonly isSendable: (mail: ClaimedMail) => boolean;
  /** Claims only mails without an attempt, the newest first. @default false */
  readonly isNew?: boolean;
}

/** A mail that this process has claimed. `attempts` includes the current attempt. */
export interface ClaimedMail extends Omit<OutboxRow, "recipient" | "isRecipientVerified"> {
  /** The value before the claim: null if no earlier attempt was made. */
  readonly emailDigest: string | null;
  /** The user at the time of the claim. null: no user had the e-mail of the request, or the user was deleted. */
  readonly user: User | null;
  /** The recipient that was stored with the mail, or the user if no recipient was stored. */
  readonly recipient: Recipient | null;
  /** Whether a user has the e-mail address that was stored with the mail. */
  readonly isTaken: boolean;
}

export interface Mail extends ClaimedMail {
  /** Whether the budgets allow the mail. If not, discard the mail. */
  readonly isWithinBudget: boolean;
}

const LEASE_SECONDS = 60;
export const DAY_SECONDS = 24 * 60 * 60;

/** The digest of mails that an operator requests. No e-mail address has this digest, so no budget counts these mails. */
export const UNLIMITED = "";

/** The outbox contains the waiting mails, and the mails that count in a budget. */
export interface OutboxRepository {
  /**
   * Runs the same statement whether or not a user has this e-mail.
   * @param options.isLimited whether the mail counts in the recipient's budget. @default true
   * @param options.state the value to which a login code belongs
   */
  request(
    kind: "reset" | "verification" | "invitation" | "login-code",
    email: string,
    options?: { readonly isLimited?: boolean; readonly state?: string },
  ): Promise<void>;
  /**
   * Claims a due mail, or returns null if no mail is due. For 60 seconds, no other process can claim the mail. The first
   * attempt counts in the budgets, later attempts do not.
   */
  claim(policy: MailPolicy): Promise<Mail | null>;
  /** Finishes a mail that was sent or permanently rejected. The mail still counts in the budgets, but the recipient is deleted. */
  finish(id: number): Promise<void>;
  /**
   * Ends a mail that is not sent. It counts in the budgets only if an earlier attempt did, because that attempt can have
   * succeeded. The mails of a change of e-mail are kept: they count as a request of the user, so that a further mail does
   * not reveal that an address is taken.
   */
  discard(mail: Pick<Mail, "id" | "kind" | "emailDigest" | "state">): Promise<void>;
  /** @param mail the values from `claim`. A mail that has been claimed again since then is not changed */
  postpone(mail: Pick<Mail, "id" | "attempts">, seconds: number): Promise<void>;
  /** Deletes the finished mails that no longer count in a budget. */
  deleteOld(): Promise<void>;
  /** Returns the number of waiting mails. */
  count(): Promise<number>;
}

const FINISHED = { nextAttemptAt: null, recipient: null };

export function createOutboxRepository(client: RepositoryClient, dialect: Dialect): OutboxRepository {
  const { orm, prepare, run, transact } = client;
  const { tables, now, later, skipLocked, lockText } = dialect;
  const { outbox, users } = tables;
  const { nextAttemptAt } = outbox;
  // A new mail is due immediately, but PostgreSQL can round its time up to the next millisecond.
  const isDue = lte(nextAttemptAt, later(0.001));
  /** Selects the mail that is due first or, of the mails without an attempt, the newest. */
  const next = (isNew: boolean) =>
    orm
      .select({ id: outbox.id })
      .from(outbox)
      .where(isNew ? and(isDue, eq(outbox.attempts, 0)) : isDue)
      .orderBy(isNew ? desc(nextAttemptAt) : asc(nextAttemptAt))
      .limit(1);
  const [due, dueNew] = [prepare(next(false)), prepare(next(true))];
  const count = sql<number | string>`count(*)`;
  const isWaiting = isNotNull(nextAttemptAt);
  const isOld = and(isNull(nextAttemptAt), lt(outbox.attemptedAt, later(-DAY_SECONDS)));

  const write = async (query: PromiseLike<unknown>): Promise<void> => void (await run(query));

  const countWithinBudget = async (
    transaction: Orm,
    { id, kind }: Pick<Mail, "id" | "kind">,
    { emailVerified }: Recipient,
    emailDigest: string,
    budgets: MailPolicy["budgets"],
  ): Promise<boolean> => {
    const own = eq(outbox.id, id);
    for (const { kinds, capacity, refillMs, recipients } of budgets) {
      if (!kinds.includes(kind) || (recipients && (recipients === "verified") !== emailVerified)) continue;
      // Waits for other transactions that count mails of the same recipient.
      const locked = lockText(emailDigest);
      await transaction.select({ locked }).from(outbox).where(own);
      const counted = and(
        eq(outbox.emailDigest, emailDigest),
        inArray(outbox.kind, [...kinds]),
        gt(outbox.attemptedAt, later(-DAY_SECONDS)),
        recipients && eq(outbox.isRecipientVerified, emailVerified),
      );
      const isPausing = sql<unknown>`max(${outbox.attemptedAt}) > ${later(-refillMs / 1000)}`;
      const [found] = await transaction.select({ count, isPausing }).from(outbox).where(counted);
      if (Number(found?.count) >= capacity && found?.isPausing) return false;
    }
    await transaction.update(outbox).set({ emailDigest, isRecipientVerified: emailVerified }).where(own);
    return true;
  };

  const claim = async (
    transaction: Orm,
    { digestMailbox, budgets, isSendable, isNew = false }: MailPolicy,
  ): Promise<Mail | null> => {
    const attempts = sql`${outbox.attempts} + 1`;
    const query = transaction
      .update(outbox)
      .set({ attempts, attemptedAt: now, nextAttemptAt: later(LEASE_SECONDS) });
    const first = sql`(${next(isNew).getSQL()} ${skipLocked})`;
    const [mail] = await query.where(eq(outbox.id, first)).returning();
    if (!mail) return null;
    const { recipient: email, isRecipientVerified, ...row } = mail;
    const found = (condition: SQL) => transaction.select().from(users).where(condition);
    const [user = null] = await found(eq(users.id, row.userId ?? 0));
    const recipient = email === null ? user : { email, emailVerified: isRecipientVerified ?? false };
    const isTaken = email !== null && (await found(inArray(users.email, emailForms(email)))).length > 0;
    const claimed = { ...row, user, recipient, isTaken };
    const isCounted =
      row.emailDigest !== null ||
      (recipient !== null &&
        isSendable(claimed) &&
        (await countWithinBudget(transaction, row, recipient, digestMailbox(recipient), budgets)));
    return { ...claimed, isWithinBudget: isCounted };
  };

  return {
    request: (kind, email, { isLimited = true, state } = {}) => {
      const { hasForm, order } = matchEmailForms(users, emailForms(email));
      const userId = sql<number>`(select ${users.id} from ${users} where ${hasForm} order by ${order} limit 1)`;
      const emailDigest = isLimited ? null : UNLIMITED;
      return write(orm.insert(outbox).values({ kind, userId, state, emailDigest }));
    },
    claim: async (policy) => {
      // Without this query, each process would lock the embedded database every second.
      const candidates = await (policy.isNew ? dueNew : due)({});
      return candidates.length === 0 ? null : transact((transaction) => claim(transaction, policy));
    },
    finish: (id) => write(orm.update(outbox).set(FINISHED).where(eq(outbox.id, id))),
    discard: ({ id, kind, emailDigest, state }) => {
      const own = eq(outbox.id, id);
      const isKept = emailDigest !== null || (state !== null && kind !== "login-code");
      const kept = orm.update(outbox).set({ ...FINISHED, emailDigest });
      return write(isKept ? kept.where(own) : orm.delete(outbox).where(own));
    },
    postpone: ({ id, attempts }, seconds) => {
      // A change to the user can have cancelled the mail since the claim.
      const claimed = and(eq(outbox.id, id), eq(outbox.attempts, attempts), isWaiting);
      const query = orm.update(outbox).set({ nextAttemptAt: later(seconds) });
      return write(query.where(claimed));
    },
    deleteOld: () => write(orm.delete(outbox).where(isOld)),
    count: createOutboxCount(client, dialect),
  };
}
