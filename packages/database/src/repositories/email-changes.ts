/**
 * Changes of e-mail by the user. Invariants: every request, cancellation and change increments `linkRevision`, so links of before
 * end. Each function locks the user first, so concurrent calls for one user run one after another.
 */
import { isSameEmail } from "@latchkey/contracts";
import { and, eq, gt, inArray, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { singleRow } from "../row-decoder.ts";
import type { User } from "../tables.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { DAY_SECONDS } from "./mail-budgets.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createUserChanges, explainConflict } from "./user-changes.ts";

interface EmailChangeOptions {
  /** Returns the state of the user that the links of the change are bound to. It contains `linkRevision`. */
  readonly stateOf: (user: User) => string;
  /** The number of requests of a user that have an effect in 24 hours. Cancellations are not counted. */
  readonly capacity: number;
}

/** `limited`: the request had no effect, because too many requests of the user had one in the last 24 hours. */
type EmailChangeOutcome = "requested" | "cancelled" | "limited";

export interface EmailChanges {
  /**
   * Stores the new e-mail and writes the mail to the present one if it is verified, otherwise to the new one. A request for the
   * present e-mail cancels the change. Returns null if the condition is not met.
   */
  requestEmailChange(
    user: Pick<User, "id">,
    email: string,
    condition: Guard,
    options: EmailChangeOptions,
  ): Promise<EmailChangeOutcome | null>;
  /** Writes the mail to the new e-mail. Returns false if the condition is not met, or the request was replaced or approved. */
  approveEmailChange(user: User, state: string, condition: Guard): Promise<boolean>;
  /**
   * Sets the requested e-mail as verified, revokes all tokens, deletes all networks, passkeys and identities, and waiting resets and
   * verifications, and notifies the old e-mail. Returns null if the condition is not met or the change was requested again.
   * @throws UserAlreadyExists
   */
  changeEmail(user: User, condition: Guard): Promise<User | null>;
}

const LINKS = ["email-change-approval", "email-change"] as const;

export function createEmailChanges({ transact }: RepositoryClient, dialect: Dialect): EmailChanges {
  const { tables, later } = dialect;
  const { users, outbox } = tables;
  const { lock, update, endedLogins, leaveEmail, expectFreeEmail } = createUserChanges(dialect);
  const linkRevision = sql`${users.linkRevision} + 1`;

  /** The change that `user` has requested, and the values to which its links are bound, have not changed. */
  const isPending = (user: User, condition: Guard) =>
    and(
      meetsGuard(users, condition),
      eq(users.email, user.email),
      eq(users.emailVerified, user.emailVerified),
      sql`${users.pendingEmail} = ${user.pendingEmail}`,
      eq(users.linkRevision, user.linkRevision),
    );

  return {
    requestEmailChange: ({ id }, email, condition, { stateOf, capacity }) =>
      transact(async (transaction) => {
        const user = await lock(transaction, id, meetsGuard(users, condition));
        if (!user) return null;
        const setPending = (pendingEmail: string | null) =>
          transaction.update(users).set({ pendingEmail, linkRevision }).where(eq(users.id, id)).returning();
        if (isSameEmail(email, user.email)) {
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
          ? ({ kind: "email-change-approval", isRecipientVerified: true } as const)
          : ({ kind: "email-change", recipient: email } as const);
        await transaction.insert(outbox).values({ ...mail, userId: id, state });
        return "requested";
      }),
    approveEmailChange: (user, state, condition) =>
      transact(async (transaction) => {
        if (!(await lock(transaction, user.id, isPending(user, condition)))) return false;
        const mail = { kind: "email-change", userId: user.id, state } as const;
        const own = and(eq(outbox.userId, user.id), eq(outbox.kind, mail.kind), eq(outbox.state, state));
        if ((await transaction.select({ id: outbox.id }).from(outbox).where(own)).length > 0) return false;
        await transaction.insert(outbox).values({ ...mail, recipient: user.pendingEmail });
        return true;
      }),
    changeEmail: (user, condition) =>
      transact(async (transaction) => {
        const { pendingEmail: email } = user;
        if (email === null) return null;
        await expectFreeEmail(transaction, email, user.id);
        const values = { email, emailVerified: true, pendingEmail: null, linkRevision, ...endedLogins };
        const selection = and(eq(users.id, user.id), isPending(user, condition));
        const changed = await update(transaction, values, selection);
        if (changed) await leaveEmail(transaction, user, true);
        return changed;
      }).catch(explainConflict(() => "email")),
  };
}
