/**
 * What changes of users share. Invariants: a change that ends tokens also ends the links and codes that wait in
 * the outbox. A change that ends credentials ends all of them.
 */
import { emailForms, isNotification, MAIL_KINDS, type MailKind } from "@latchkey/contracts";
import { and, eq, inArray, isNotNull, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Dialect, Orm } from "../dialect.ts";
import { UserAlreadyExists } from "../errors.ts";
import type { Password } from "../passwords.ts";
import type { User } from "../tables.ts";
import { rememberDeletion } from "./imports.ts";
import { insertMail } from "./insert-mail.ts";

/** Mails whose link or code logs in, leads to a login, or confirms a second factor for one, and ends with the tokens. */
const LOGIN_MAILS: MailKind[] = ["reset", "login-code", "factor-code"];

const NOTIFICATIONS = MAIL_KINDS.filter(isNotification);

/** The columns that a change replaces without another effect. */
interface UserValues {
  readonly username?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly locale?: string | undefined;
}

/** Copies only the listed members: a change has others, which are no columns. The compiler names a forgotten one. */
export const userValues = ({ username, emailVerified, locale }: UserValues): Required<UserValues> => ({
  username,
  emailVerified,
  locale,
});

export interface UserChange extends UserValues {
  /**
   * A new hash revokes all tokens except `passwordChangeTokenId`. A new hash also deletes the passkeys, the identities, the
   * resets in the outbox, and all networks except `keptNetworkDigest`.
   */
  readonly hashedPassword?: string;
  /** The `jti` of a token that a new hash does not revoke. @default null */
  readonly passwordChangeTokenId?: string | null;
  readonly keptNetworkDigest?: string | undefined;
  /** A network that is stored together with a new hash. */
  readonly networkDigest?: string | undefined;
  /** Whether a new hash keeps the passkeys and identities: true if the logged-in user changes the password. @default false */
  readonly keepsPasskeys?: boolean;
  /** Whether a new hash ends a second factor that was enrolled without a verified e-mail: the owner resets. @default false */
  readonly endsUnverifiedFactor?: boolean;
  /** Whether a new hash writes a notification to the outbox. @default false */
  readonly notifies?: boolean | undefined;
}

type PasswordChange = UserChange & Pick<User, "hashedPassword">;

export function createUserChanges(dialect: Dialect) {
  const { tables, now } = dialect;
  const { users, userNetworks, passkeys, identities, factors, outbox } = tables;
  const isWaiting = isNotNull(outbox.nextAttemptAt);

  /** Locks the user and returns the user, or null if the condition is not met. */
  const lock = async (transaction: Orm, id: number, condition?: SQL): Promise<User | null> => {
    const query = transaction.update(users).set({ linkRevision: sql`${users.linkRevision}` });
    const [user = null] = await query.where(and(eq(users.id, id), condition)).returning();
    return user;
  };

  /**
   * A change that revokes tokens or deactivates the user also deletes the waiting mails for logins. A new password or e-mail also
   * deletes the waiting invitations, a new e-mail the waiting verifications. A mail with an earlier attempt is not deleted, because the attempt can have succeeded and counts in
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
      const kinds = [...LOGIN_MAILS];
      if (values.hashedPassword !== undefined || values.email !== undefined) kinds.push("invitation");
      if (values.email !== undefined) kinds.push("verification");
      const ended = and(eq(outbox.userId, user.id), inArray(outbox.kind, kinds), isWaiting);
      await transaction.delete(outbox).where(and(ended, isNull(outbox.attemptedAt)));
      await transaction.update(outbox).set({ nextAttemptAt: null }).where(ended);
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
  /** Values that revoke all tokens, when all passkeys are deleted, too. */
  const endedLogins = { ...revocation(), ...withoutPasskeys };

  /** The second factor that somebody else can have enrolled, before the owner verified the e-mail. */
  const unverifiedFactor = and(eq(factors.userId, users.id), eq(factors.wasVerified, false));
  const withoutUnverifiedFactor = {
    factorId: sql`case when exists (select 1 from ${factors} where ${unverifiedFactor}) then null else ${users.factorId} end`,
  };
  const deleteFactor = async (transaction: Orm, { id, factorId }: User): Promise<void> => {
    if (factorId === null) await transaction.delete(factors).where(eq(factors.userId, id));
  };

  /** Deletes all networks except `keptNetworkDigest`. Deletes all passkeys and identities unless `keepsPasskeys` is set. */
  const forgetDevices = async (
    transaction: Orm,
    id: number,
    { keptNetworkDigest = "", keepsPasskeys }: Pick<UserChange, "keptNetworkDigest" | "keepsPasskeys"> = {},
  ) => {
    // Runs after the caller's update of the user. Only a separate statement sees all networks that were stored before that
    // update locked the user.
    const removed = and(eq(userNetworks.userId, id), ne(userNetworks.networkDigest, keptNetworkDigest));
    await transaction.delete(userNetworks).where(removed);
    if (keepsPasskeys) return;
    for (const table of [passkeys, identities]) await transaction.delete(table).where(eq(table.userId, id));
  };

  return {
    lock,
    update,
    revocation,
    endedLogins,
    deleteFactor,
    /** Stores a new hash and the other values of the change. Returns null if no user meets the condition. */
    replacePassword: async (
      transaction: Orm,
      change: PasswordChange,
      selection: SQL | undefined,
    ): Promise<User | null> => {
      const { hashedPassword, networkDigest, passwordChangeTokenId } = change;
      const { keepsPasskeys, endsUnverifiedFactor, notifies } = change;
      const values = {
        ...userValues(change),
        hashedPassword,
        importedHash: null,
        ...revocation(passwordChangeTokenId),
        ...(!keepsPasskeys && withoutPasskeys),
        ...(endsUnverifiedFactor && withoutUnverifiedFactor),
      };
      const user = await update(transaction, values, selection);
      if (!user) return null;
      if (endsUnverifiedFactor) await deleteFactor(transaction, user);
      await forgetDevices(transaction, user.id, change);
      if (networkDigest !== undefined)
        await transaction.insert(userNetworks).values({ userId: user.id, networkDigest });
      if (notifies) await insertMail(transaction, dialect, { kind: "password", userId: user.id });
      return user;
    },
    /**
     * Ends what belongs to the old e-mail, which gets the notifications that are already in the outbox and, if `notifies`, a
     * notification of the change. Without the remembered deletion, an import, also of an old export of this database, would create
     * a second account with the old e-mail and password.
     */
    leaveEmail: async (transaction: Orm, old: User, notifies: boolean): Promise<void> => {
      await forgetDevices(transaction, old.id);
      const recipient = { recipient: old.email, isRecipientVerified: old.emailVerified };
      const isNotification = and(inArray(outbox.kind, NOTIFICATIONS), isNull(outbox.recipient));
      const redirected = and(eq(outbox.userId, old.id), isNotification, isWaiting);
      await transaction.update(outbox).set(recipient).where(redirected);
      if (notifies) await transaction.insert(outbox).values({ kind: "email", userId: old.id, ...recipient });
      await rememberDeletion(transaction, dialect, old.email);
    },
    /**
     * Hands a user to the owner of the e-mail, which was not verified: somebody else can have registered it. All earlier
     * credentials end. `password` replaces the password. A user with a second factor of a verified e-mail is never taken over.
     */
    takeOver: async (
      transaction: Orm,
      { id, email }: Pick<User, "id" | "email">,
      password: Password,
      condition: SQL | undefined,
    ): Promise<User | null> => {
      const values = {
        ...password,
        emailVerified: true,
        pendingEmail: null,
        ...endedLogins,
        linkRevision: sql`${users.linkRevision} + 1`,
        loginCodeRevision: sql`${users.loginCodeRevision} + 1`,
        factorId: null,
      };
      const isUnverified = and(
        eq(users.email, email),
        eq(users.emailVerified, false),
        eq(users.isActive, true),
      );
      const hasNoFactor = or(
        isNull(users.factorId),
        sql`exists (select 1 from ${factors} where ${unverifiedFactor})`,
      );
      const selection = and(eq(users.id, id), isUnverified, hasNoFactor, condition);
      const user = await update(transaction, values, selection);
      if (user) await forgetDevices(transaction, id);
      if (user) await deleteFactor(transaction, user);
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
