/**
 * The outbox. Invariants: at any time, each mail is claimed by at most one process. Mails to one recipient
 * are counted one after another, because all replicas share the recipient's budget.
 */
import { type CodeKind, emailForms, FAMILIAR_NETWORK_DAYS, MAIL_KINDS } from "@latchkey/contracts";
import {
  and,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import type { OutboxRow } from "../tables.ts";
import { claimOrder } from "./claim-order.ts";
import { matchEmailForms } from "./email-forms.ts";
import { createMailBudgets, DAY_SECONDS, isKept } from "./mail-budgets.ts";
import type { ClaimOrder, Mail, MailPolicy } from "./mail-policy.ts";
import { createOutboxCount } from "./outbox-count.ts";
import type { RepositoryClient } from "./repository-client.ts";

const LEASE_SECONDS = 60;

/** The digest of mails that an operator requests. No e-mail address has this digest, so no budget counts these mails. */
export const UNLIMITED = "";

/** The outbox contains the waiting mails, and the mails that count in a budget. */
export interface OutboxRepository {
  /**
   * Runs the same statement whether or not a user has this e-mail.
   * @param options.isLimited whether the mail counts in the recipient's budget. @default true
   * @param options.state the value to which a code belongs
   * @param options.networkDigest the network of the request. @default a network that is not familiar
   */
  request(
    kind: "reset" | "verification" | "invitation" | CodeKind,
    email: string,
    options?: {
      readonly isLimited?: boolean;
      readonly state?: string;
      readonly networkDigest?: string | undefined;
    },
  ): Promise<void>;
  /**
   * Counts an attempt with a code. Returns false if the code is not valid: its mail was not sent, or it had `capacity`
   * attempts. All calls write and commit the same, and those for one state run one after another, so that their times do not
   * reveal whether the state belongs to a mail.
   * @param userId 0: no user has the e-mail
   */
  countCodeAttempt(kind: CodeKind, userId: number, state: string, capacity: number): Promise<boolean>;
  /**
   * Claims a due mail of a kind that this release knows, or returns null if no such mail is due. For 60 seconds, no other process
   * can claim the mail. The first attempt counts in the budgets, later attempts do not. Deletes the mails that are never sent in
   * one statement, so that any number of them does not delay others: before the claim those to unknown e-mails, and with the
   * claim of one that is unwanted or beyond the budget all such mails that wait; with the order "newest-verified", those to verified
   * e-mails.
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
  /** Returns the number of waiting mails of the kinds that this release knows. */
  count(): Promise<number>;
}

const FINISHED = { nextAttemptAt: null, recipient: null };

export function createOutboxRepository(client: RepositoryClient, dialect: Dialect): OutboxRepository {
  const { orm, prepare, run, transact } = client;
  const { tables, now, later, skipLocked, lockText } = dialect;
  const { outbox, users, userNetworks } = tables;
  const { nextAttemptAt } = outbox;
  const mailBudgets = createMailBudgets(dialect);
  // A new mail is due immediately, but PostgreSQL can round its time up to the next millisecond.
  const isDue = lte(nextAttemptAt, later(0.001));
  // After a rollback, the outbox can contain mails of kinds that only the later release can send.
  const isKnown = inArray(outbox.kind, [...MAIL_KINDS]);
  const leadsSomewhere = or(isNotNull(outbox.userId), isNotNull(outbox.recipient));
  const isClaimable = and(isDue, isKnown);
  /** Of each condition of the order, the query for the next mail. */
  const nextOf = (order: ClaimOrder, condition?: SQL) => {
    const { conditions, orderBy } = claimOrder(tables, order);
    const ids = () => orm.select({ id: outbox.id }).from(outbox);
    return conditions.map((one) =>
      ids()
        .where(and(isClaimable, one, condition))
        .orderBy(orderBy)
        .limit(1),
    );
  };
  const due = {
    oldest: nextOf("oldest").map(prepare),
    newest: nextOf("newest").map(prepare),
    "newest-verified": nextOf("newest-verified").map(prepare),
  };
  const isWaiting = isNotNull(nextAttemptAt);
  const isOld = and(isNull(nextAttemptAt), lt(outbox.attemptedAt, later(-DAY_SECONDS)));

  const write = async (query: PromiseLike<unknown>): Promise<void> => void (await run(query));

  const claim = async (transaction: Orm, policy: MailPolicy): Promise<Mail | null> => {
    await mailBudgets.deleteToNobody(transaction);
    const attempts = sql`${outbox.attempts} + 1`;
    const values = { attempts, attemptedAt: now, nextAttemptAt: later(LEASE_SECONDS) };
    let mail: OutboxRow | undefined;
    // Mails to unknown e-mails that were requested meanwhile wait for the next statement that deletes them.
    for (const next of nextOf(policy.order ?? "oldest", leadsSomewhere)) {
      const first = sql`(${next.getSQL()} ${skipLocked})`;
      [mail] = await transaction.update(outbox).set(values).where(eq(outbox.id, first)).returning();
      if (mail) break;
    }
    if (!mail) return null;
    const { recipient: email, isRecipientVerified, ...row } = mail;
    const found = (condition: SQL) => transaction.select().from(users).where(condition);
    const [user = null] = await found(eq(users.id, row.userId ?? 0));
    const recipient = email === null ? user : { email, emailVerified: isRecipientVerified ?? false };
    const isTaken = email !== null && (await found(inArray(users.email, emailForms(email)))).length > 0;
    const claimed = { ...row, user, recipient, isTaken };
    const kept = { ...claimed, isDeleted: false, suppressed: [] };
    if (row.emailDigest !== null) return { ...kept, isWithinBudget: true };
    if (policy.isExpired(claimed)) return { ...kept, isWithinBudget: false };
    const isWanted = recipient !== null && policy.isWanted(claimed);
    const isWithinBudget = isWanted && (await mailBudgets.count(transaction, row, recipient, policy));
    if (isWithinBudget || email !== null || isKept(row)) return { ...kept, isWithinBudget };
    const suppressed = await mailBudgets.deleteUnsent(transaction, row, isWanted, policy);
    return { ...claimed, isWithinBudget, isDeleted: true, suppressed };
  };

  return {
    request: (kind, email, { isLimited = true, state, networkDigest = "" } = {}) => {
      const { hasForm, order } = matchEmailForms(users, emailForms(email));
      const ofUser = <T>(column: SQLWrapper) =>
        sql<T>`(select ${column} from ${users} where ${hasForm} order by ${order} limit 1)`;
      const userId = ofUser<number>(users.id);
      const isRecipientVerified = ofUser<boolean>(users.emailVerified);
      const network = and(
        sql`${userNetworks.userId} = ${userId}`,
        eq(userNetworks.networkDigest, networkDigest),
        gt(userNetworks.lastSeenAt, later(-FAMILIAR_NETWORK_DAYS * DAY_SECONDS)),
      );
      const isFamiliar = sql<boolean>`exists (select 1 from ${userNetworks} where ${network})`;
      const emailDigest = isLimited ? null : UNLIMITED;
      const mail = { kind, userId, isRecipientVerified, state, emailDigest, isFamiliar };
      return write(orm.insert(outbox).values(mail));
    },
    countCodeAttempt: (kind, userId, state, capacity) =>
      transact(async (transaction) => {
        // This mail is never sent: it makes each call write to the disk. Its insertion waits for other calls with the state.
        const locked = lockText(state);
        const mail = { kind, state: sql`${locked}`, nextAttemptAt: null } as const;
        const [decoy] = await transaction.insert(outbox).values(mail).returning({ id: outbox.id });
        await transaction.delete(outbox).where(eq(outbox.id, decoy?.id ?? 0));
        const isOwn = and(eq(outbox.userId, userId), eq(outbox.kind, kind), eq(outbox.state, state));
        // A digest is stored together with the first attempt to send the mail, unless the mail is suppressed.
        const isSent = and(isNotNull(outbox.attemptedAt), isNotNull(outbox.emailDigest));
        const codeAttempts = sql`${outbox.codeAttempts} + 1`;
        const query = transaction.update(outbox).set({ codeAttempts });
        const counted = query.where(and(isOwn, isSent, lt(outbox.codeAttempts, capacity)));
        return (await counted.returning({ id: outbox.id })).length > 0;
      }),
    claim: async (policy) => {
      // Without this query, each process would lock the embedded database every second.
      for (const find of due[policy.order ?? "oldest"])
        if ((await find({})).length > 0) return transact((transaction) => claim(transaction, policy));
      return null;
    },
    finish: (id) => write(orm.update(outbox).set(FINISHED).where(eq(outbox.id, id))),
    discard: (mail) => {
      const own = eq(outbox.id, mail.id);
      const kept = orm.update(outbox).set({ ...FINISHED, emailDigest: mail.emailDigest });
      return write(isKept(mail) ? kept.where(own) : orm.delete(outbox).where(own));
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
