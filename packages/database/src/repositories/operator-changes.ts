/**
 * The changes that an operator makes to a user. Invariants: all members of one change take effect in one transaction, which locks
 * the user first; and each member has the effect that it has alone.
 */
import { type Claims, isSameEmail } from "@latchkey/contracts";
import { eq, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { NO_PASSWORD, type Password } from "../passwords.ts";
import type { User } from "../tables.ts";
import { insertMail } from "./insert-mail.ts";
import { UNLIMITED } from "./outbox.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createUserChanges, explainConflict } from "./user-changes.ts";

/** A member that is undefined is not changed. The members take effect in this order. */
export interface OperatorChange {
  /** Another e-mail is not verified, and ends all credentials. The present e-mail, in whichever form, changes nothing. */
  readonly email?: string | undefined;
  /** A new hash ends all tokens, passkeys and identities. */
  readonly hashedPassword?: string | undefined;
  /** The removal of a role ends all tokens. */
  readonly roles?: readonly string[] | undefined;
  /** Replaces all. Ends no token: the next ones have the new claims. */
  readonly claims?: Claims | undefined;
  readonly locale?: string | undefined;
  /** The present state changes nothing. An activation ends all tokens, so that earlier ones stay invalid. */
  readonly isActive?: boolean | undefined;
  readonly username?: string | undefined;
  /** The end of a verification ends all tokens. */
  readonly emailVerified?: boolean | undefined;
}

interface OperatorChangeOptions {
  /** Whether notifications, and the reset for a new e-mail, are written to the outbox. @default false */
  readonly notifies?: boolean;
  /** Replaces the password if the e-mail changes. @default none */
  readonly endedPassword?: Password;
  /** Receives the locked user. If it throws, nothing is changed. @default every change is allowed */
  readonly check?: ((user: User) => void) | undefined;
}

const NONE: Password = { hashedPassword: "", importedHash: NO_PASSWORD };

export interface OperatorChanges {
  /**
   * Returns the user before and after the change, or null if the user does not exist. The resets in the outbox end if tokens end
   * or the user is deactivated.
   * @throws UserAlreadyExists
   * @throws what `check` throws
   */
  changeAsOperator(
    id: number,
    change: OperatorChange,
    options?: OperatorChangeOptions,
  ): Promise<{ readonly before: User; readonly user: User } | null>;
}

export function createOperatorChanges(
  { transact }: RepositoryClient,
  dialect: Dialect,
  findByEmail: (email: string) => Promise<User | null>,
): OperatorChanges {
  const { users } = dialect.tables;
  const changes = createUserChanges(dialect);
  const {
    lock,
    update,
    revocation,
    endedLogins,
    deleteFactor,
    replacePassword,
    leaveEmail,
    expectFreeEmail,
  } = changes;

  /** For a user who has lost the mailbox. All credentials end. If `notifies`, notifies the old e-mail. */
  const replaceEmail = async (
    transaction: Orm,
    old: User,
    email: string,
    { notifies = false, endedPassword = NONE }: OperatorChangeOptions,
  ): Promise<User | null> => {
    await expectFreeEmail(transaction, email, old.id);
    const values = {
      email,
      emailVerified: false,
      pendingEmail: null,
      linkRevision: sql`${users.linkRevision} + 1`,
      ...endedPassword,
      ...endedLogins,
      factorId: null,
    };
    const changed = await update(transaction, values, eq(users.id, old.id));
    if (changed) await deleteFactor(transaction, changed);
    await leaveEmail(transaction, old, notifies);
    return changed;
  };

  const apply = async (
    transaction: Orm,
    before: User,
    {
      email = before.email,
      hashedPassword,
      roles,
      claims,
      locale,
      isActive,
      username,
      emailVerified,
    }: OperatorChange,
    options: OperatorChangeOptions,
  ): Promise<User> => {
    const { notifies } = options;
    const own = eq(users.id, before.id);
    let user: User | null = before;
    const isMoved = !isSameEmail(email, before.email);
    if (isMoved) user = await replaceEmail(transaction, before, email, options);
    if (hashedPassword !== undefined)
      user = await replacePassword(transaction, { hashedPassword, notifies }, own);
    const isRoleRemoved = roles !== undefined && before.roles.some((role) => !roles.includes(role));
    const isActivated = isActive === true && !before.isActive;
    const isUnverified = emailVerified === false && before.emailVerified;
    const values = {
      roles: roles && [...roles],
      claims,
      locale,
      username,
      emailVerified,
      isActive: isActive === before.isActive ? undefined : isActive,
      ...((isRoleRemoved || isActivated || isUnverified) && revocation()),
    } satisfies Record<Exclude<keyof OperatorChange, "email" | "hashedPassword">, unknown>;
    if (Object.values(values).some((value) => value !== undefined))
      user = await update(transaction, values, own);
    // The reset for a new e-mail, which no budget limits. It comes last, because the other members delete waiting resets.
    const reset = { kind: "reset", userId: before.id, emailDigest: UNLIMITED } as const;
    if (isMoved && notifies) await insertMail(transaction, dialect, reset);
    return user ?? before;
  };

  return {
    changeAsOperator: (id, change, options = {}) => {
      const { email } = change;
      let isMoved = false;
      const findField = async () => {
        const owner = email === undefined || !isMoved ? null : await findByEmail(email);
        return owner && owner.id !== id ? "email" : "username";
      };
      return transact(async (transaction) => {
        const before = await lock(transaction, id);
        if (!before) return null;
        isMoved = email !== undefined && !isSameEmail(email, before.email);
        options.check?.(before);
        return { before, user: await apply(transaction, before, change, options) };
      }).catch(explainConflict(findField));
    },
  };
}
