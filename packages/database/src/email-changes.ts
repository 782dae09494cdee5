/**
 * Changes of e-mail in either database. Invariants: every request, cancellation and change increments `linkRevision`, so links
 * of before end. Each function locks the user first, so concurrent calls for one user run one after another.
 */
import { isNotification, MAIL_KINDS, toAsciiEmail } from "@latchkey/contracts";
import { and, eq, gt, inArray, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import { type Guard, meetsGuard } from "./guard.ts";
import { DAY_SECONDS, sentByDueAt, UNLIMITED } from "./outbox.ts";
import type { Orm, RepositoryClient, Tables } from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";
import type { User } from "./tables.ts";
import { explainConflict, type Password, type UserChanges } from "./user-changes.ts";

export interface EmailChangeOptions {
  /** Returns the state of the user that the links of the change are bound to. It contains `linkRevision`. */
  readonly stateOf: (user: User) => string;
  /** The number of requests of a user that have an effect in 24 hours. Cancellations are not counted. */
  readonly capacity: number;
}

/** `limited`: the request had no effect, because too many requests of the user had one in the last 24 hours. */
export type EmailChangeOutcome = "requested" | "cancelled" | "limited";

interface Changes extends Pick<UserChanges, "update" | "endLogins" | "forgetDevices" | "expectFreeEmail"> {
  readonly rememberDeletion: (transaction: Orm, email: string) => Promise<void>;
}

/** What an operator's change of the e-mail does in addition. */
export interface EmailReplacement extends Password {
  readonly notifies: boolean;
}

const LINKS = ["email-change-approval", "email-change"] as const;
const NOTIFICATIONS = MAIL_KINDS.filter(isNotification);

export function createEmailChanges(
  { transact }: RepositoryClient,
  tables: Tables,
  { update, endLogins, forgetDevices, rememberDeletion, expectFreeEmail }: Changes,
) {
  const { users, outbox, later } = tables;
  const nextRevision = sql`${users.linkRevision} + 1`;
  /** Locks the user and returns the user, or null if the condition is not met. */
  const lock = async (transaction: Orm, id: number, condition?: SQL): Promise<User | null> => {
    const query = transaction.update(users).set({ linkRevision: sql`${users.linkRevision}` });
    const [user = null] = await query.where(and(eq(users.id, id), condition)).returning();
    return user;
  };

  /** The change that `user` has requested, and the values to which its links are bound, have not changed. */
  const isPending = (user: User, condition: Guard) =>
    and(
      meetsGuard(users, condition),
      eq(users.email, user.email),
      eq(users.emailVerified, user.emailVerified),
      sql`${users.pendingEmail} = ${user.pendingEmail}`,
      eq(users.linkRevision, user.linkRevision),
    );

  /**
   * The old e-mail gets the notifications that are already in the outbox and, if `notifies`, a notification of the change.
   * Without the remembered deletion, an import, also of an old export of this database, would create a second account with the
   * old e-mail and password.
   */
  const leaveEmail = async (transaction: Orm, old: User, notifies: boolean) => {
    await forgetDevices(transaction, old.id);
    const recipient = { recipient: old.email, isRecipientVerified: old.emailVerified };
    const dueAt = sql`coalesce(${outbox.dueAt}, ${outbox.nextAttemptAt})`;
    const isWaiting = or(isNotNull(outbox.dueAt), isNotNull(outbox.nextAttemptAt));
    const isNotification = and(inArray(outbox.kind, NOTIFICATIONS), isNull(outbox.recipient));
    const redirection = transaction.update(outbox).set({ ...recipient, nextAttemptAt: null, dueAt });
    await redirection.where(and(eq(outbox.userId, old.id), isNotification, isWaiting));
    const notification = { kind: "email", userId: old.id, ...recipient, ...sentByDueAt(tables) } as const;
    if (notifies) await transaction.insert(outbox).values(notification);
    await rememberDeletion(transaction, old.email);
  };

  /**
   * The operator's change, for a user who has lost the mailbox. All credentials end: the given one replaces the password. If
   * `notifies`, writes a reset for the new e-mail, which no budget limits, and notifies the old one.
   * @throws UserAlreadyExists
   */
  const replaceEmail = async (
    transaction: Orm,
    old: User,
    email: string,
    { hashedPassword, importedHash, notifies }: EmailReplacement,
  ): Promise<User | null> => {
    await expectFreeEmail(transaction, email, old.id);
    const values = {
      ...{ email, emailVerified: false, pendingEmail: null, linkRevision: nextRevision },
      ...{ hashedPassword, importedHash, ...endLogins() },
    };
    const changed = await update(transaction, values, eq(users.id, old.id));
    await leaveEmail(transaction, old, notifies);
    const reset = { kind: "reset", userId: old.id, emailDigest: UNLIMITED } as const;
    if (notifies) await transaction.insert(outbox).values(reset);
    return changed;
  };

  return {
    /** Locks the user and returns the user, or null if the condition is not met. */
    lock,
    replaceEmail,
    /**
     * Stores the new e-mail and writes the mail to the present one if it is verified, otherwise to the new one. A request for
     * the present e-mail cancels the change. Returns null if the condition is not met.
     */
    requestEmailChange: (
      { id }: Pick<User, "id">,
      email: string,
      condition: Guard,
      { stateOf, capacity }: EmailChangeOptions,
    ) =>
      transact(async (transaction): Promise<EmailChangeOutcome | null> => {
        const user = await lock(transaction, id, meetsGuard(users, condition));
        if (!user) return null;
        const setPending = (pendingEmail: string | null) =>
          transaction
            .update(users)
            .set({ pendingEmail, linkRevision: nextRevision })
            .where(eq(users.id, id))
            .returning();
        if (email === toAsciiEmail(user.email)) {
          await setPending(null);
          return "cancelled";
        }
        // The mails of one request have one state. The sender keeps them for a day, whether or not it sends them.
        const count = sql<number | string>`count(distinct ${outbox.state})`;
        const recent = and(
          eq(outbox.userId, id),
          inArray(outbox.kind, [...LINKS]),
          gt(outbox.createdAt, later(-DAY_SECONDS)),
        );
        const [requests] = await transaction.select({ count }).from(outbox).where(recent);
        if (Number(requests?.count) >= capacity) return "limited";
        const state = stateOf(singleRow(await setPending(email)));
        const mail = user.emailVerified
          ? ({ kind: "email-change-approval" } as const)
          : ({ kind: "email-change", recipient: email } as const);
        await transaction.insert(outbox).values({ ...mail, userId: id, state, ...sentByDueAt(tables) });
        return "requested";
      }),
    /**
     * Writes the mail to the new e-mail. Returns false if the condition is not met, the change was requested again, or it was
     * approved before.
     */
    approveEmailChange: (user: User, state: string, condition: Guard) =>
      transact(async (transaction) => {
        if (!(await lock(transaction, user.id, isPending(user, condition)))) return false;
        const mail = { kind: "email-change", userId: user.id, state } as const;
        const own = and(eq(outbox.userId, user.id), eq(outbox.kind, mail.kind), eq(outbox.state, state));
        if ((await transaction.select({ id: outbox.id }).from(outbox).where(own)).length > 0) return false;
        await transaction
          .insert(outbox)
          .values({ ...mail, recipient: user.pendingEmail, ...sentByDueAt(tables) });
        return true;
      }),
    /**
     * Sets the requested e-mail as verified, revokes all tokens, deletes all networks, passkeys and identities, and waiting resets and
     * verifications, and notifies the old e-mail. Returns null if the condition is not met or the change was requested again.
     * @throws UserAlreadyExists
     */
    changeEmail: (user: User, condition: Guard) =>
      transact(async (transaction) => {
        if (user.pendingEmail === null) return null;
        await expectFreeEmail(transaction, user.pendingEmail, user.id);
        const values = {
          ...{
            email: user.pendingEmail,
            emailVerified: true,
            pendingEmail: null,
            linkRevision: nextRevision,
          },
          ...endLogins(),
        };
        const selection = and(eq(users.id, user.id), isPending(user, condition));
        const changed = await update(transaction, values, selection);
        if (changed) await leaveEmail(transaction, user, true);
        return changed;
      }).catch(explainConflict(() => "email")),
  };
}
