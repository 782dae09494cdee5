/**
 * What changes of users share, in either database. Invariants: a change that ends tokens also ends the links and codes that wait in
 * the outbox. A change that ends credentials ends all of them.
 */
import { emailForms, type MailKind } from "@latchkey/contracts";
import { and, eq, inArray, isNotNull, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { UserAlreadyExists } from "./errors.ts";
import type { Orm, Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";

/** The values that replace a password. */
export type Password = Pick<User, "hashedPassword" | "importedHash">;

export type UserChanges = ReturnType<typeof createUserChanges>;

/** Mails whose link or code logs in, or leads to a login. */
const LOGIN_MAILS: readonly MailKind[] = ["reset", "invitation", "login-code"];

interface KeptDevices {
  readonly keptNetworkDigest?: string | undefined;
  /** Whether passkeys and identities are kept. @default false */
  readonly keepsPasskeys?: boolean;
}

export function createUserChanges({ users, userNetworks, passkeys, identities, outbox, now }: Tables) {
  /**
   * A change that revokes tokens or deactivates the user also deletes the waiting mails for logins. A new e-mail also deletes the
   * waiting verifications. A mail with an earlier attempt is not deleted, because the attempt can have succeeded and counts in
   * the recipient's budget. Such a mail is never sent again.
   */
  const update = async (
    transaction: Orm,
    values: PgUpdateSetSource<typeof users>,
    selection: SQL | undefined,
  ): Promise<User | null> => {
    const query = transaction.update(users).set({ ...values, updatedAt: now });
    const [user = null] = await query.where(selection).returning();
    if (user && (values.tokenVersion !== undefined || values.isActive === false)) {
      const ended = and(
        eq(outbox.userId, user.id),
        inArray(
          outbox.kind,
          values.email === undefined ? [...LOGIN_MAILS] : [...LOGIN_MAILS, "verification"],
        ),
        or(isNotNull(outbox.nextAttemptAt), isNotNull(outbox.dueAt)),
      );
      await transaction.delete(outbox).where(and(ended, isNull(outbox.attemptedAt)));
      await transaction.update(outbox).set({ nextAttemptAt: null, dueAt: null }).where(ended);
    }
    return user;
  };

  /** Values that revoke all tokens of a user except `passwordChangeTokenId`. */
  const revocation = (passwordChangeTokenId: string | null = null) => ({
    tokenVersion: sql`${users.tokenVersion} + 1`,
    passwordChangeTokenId,
  });

  /** Values that must be set when all passkeys are deleted. */
  const withoutPasskeys = { passkeyRevision: sql`${users.passkeyRevision} + 1` };

  /** Deletes all networks except `keptNetworkDigest`. Deletes all passkeys and identities unless `keepsPasskeys` is set. */
  const forgetDevices = async (
    transaction: Orm,
    id: number,
    { keptNetworkDigest = "", keepsPasskeys = false }: KeptDevices = {},
  ) => {
    // Runs after the caller's update of the user. Only a separate statement sees all networks that were stored before that
    // update locked the user.
    const removed = and(eq(userNetworks.userId, id), ne(userNetworks.networkDigest, keptNetworkDigest));
    await transaction.delete(userNetworks).where(removed);
    if (keepsPasskeys) return;
    for (const table of [passkeys, identities]) await transaction.delete(table).where(eq(table.userId, id));
  };

  return {
    update,
    revocation,
    withoutPasskeys,
    /** Values that revoke all tokens and must be set when all passkeys are deleted. */
    endLogins: () => ({ ...revocation(), ...withoutPasskeys }),
    forgetDevices,
    /**
     * Hands a user to the owner of the e-mail, which was not verified: somebody else can have registered it. All earlier
     * credentials end. `password` replaces the password.
     */
    takeOver: async (
      transaction: Orm,
      { id, email }: Pick<User, "id" | "email">,
      password: Password,
      condition: SQL | undefined,
    ): Promise<User | null> => {
      const values = {
        ...{ ...password, emailVerified: true, pendingEmail: null },
        ...{ ...revocation(), ...withoutPasskeys },
        linkRevision: sql`${users.linkRevision} + 1`,
        loginCodeRevision: sql`${users.loginCodeRevision} + 1`,
      };
      const isUnverified = and(
        eq(users.email, email),
        eq(users.emailVerified, false),
        eq(users.isActive, true),
      );
      const user = await update(transaction, values, and(eq(users.id, id), isUnverified, condition));
      if (user) await forgetDevices(transaction, id);
      return user;
    },
    /** @throws UserAlreadyExists if a user has the address in another form. The database only compares exactly. */
    expectFreeEmail: async (transaction: Orm, email: string, exceptId = 0): Promise<void> => {
      const others = emailForms(email).filter((form) => form !== email);
      if (others.length === 0) return;
      const isOther = and(inArray(users.email, others), ne(users.id, exceptId));
      const found = await transaction.select({ id: users.id }).from(users).where(isOther);
      if (found.length > 0) throw new UserAlreadyExists("email");
    },
  };
}

/** Sets the field of the error. The databases report different constraints if both values are taken. */
export const explainConflict =
  (findField: () => "email" | "username" | Promise<"email" | "username">) =>
  async (error: unknown): Promise<never> => {
    throw error instanceof UserAlreadyExists ? new UserAlreadyExists(await findField()) : error;
  };
