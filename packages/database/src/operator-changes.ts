/**
 * The changes that an operator makes to a user, in either database. Invariants: all members of one change take effect in one
 * transaction, which locks the user first; and each member has the effect that it has alone.
 */
import { eq, type SQL } from "drizzle-orm";
import type { EmailReplacement } from "./email-changes.ts";
import type { Orm, RepositoryClient, Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";
import { explainConflict, type Password, type UserChanges } from "./user-changes.ts";

/** A member that is undefined is not changed. The members take effect in this order. */
export interface OperatorChange {
  /** Another e-mail is not verified, and ends all credentials. The present e-mail changes nothing. */
  readonly email?: string | undefined;
  /** A new hash ends all tokens, passkeys and identities. */
  readonly hashedPassword?: string | undefined;
  /** The removal of a role ends all tokens. */
  readonly roles?: readonly string[] | undefined;
  /** The present state changes nothing. An activation ends all tokens, so that earlier ones stay invalid. */
  readonly isActive?: boolean | undefined;
  readonly username?: string | undefined;
  readonly emailVerified?: boolean | undefined;
}

export interface OperatorChangeOptions {
  /** Whether notifications, and the reset for a new e-mail, are written to the outbox. */
  readonly notifies: boolean;
  /** Replaces the password if the e-mail changes. */
  readonly endedPassword: Password;
  /** Receives the locked user. If it throws, nothing is changed. @default every change is allowed */
  readonly check?: (user: User) => void;
}

export interface ChangedUser {
  readonly before: User;
  readonly user: User;
}

interface Changes extends Pick<UserChanges, "update" | "revocation"> {
  readonly lock: (transaction: Orm, id: number) => Promise<User | null>;
  readonly replaceEmail: (
    transaction: Orm,
    old: User,
    email: string,
    replacement: EmailReplacement,
  ) => Promise<User | null>;
  readonly replacePassword: (
    transaction: Orm,
    change: Pick<User, "hashedPassword"> & { readonly notifies: boolean },
    selection: SQL | undefined,
  ) => Promise<User | null>;
  readonly findByEmail: (email: string) => Promise<User | null>;
}

export function createOperatorChanges({ transact }: RepositoryClient, { users }: Tables, changes: Changes) {
  const { lock, update, revocation, replaceEmail, replacePassword, findByEmail } = changes;

  const apply = async (
    transaction: Orm,
    before: User,
    change: OperatorChange,
    { notifies, endedPassword }: OperatorChangeOptions,
  ): Promise<User> => {
    const { email = before.email, hashedPassword, roles, isActive = before.isActive } = change;
    const { username, emailVerified } = change;
    const own = eq(users.id, before.id);
    let user = before;
    if (email !== before.email) {
      const replacement = { ...endedPassword, notifies };
      user = (await replaceEmail(transaction, before, email, replacement)) ?? user;
    }
    if (hashedPassword !== undefined)
      user = (await replacePassword(transaction, { hashedPassword, notifies }, own)) ?? user;
    if (roles !== undefined) {
      const isRemoved = before.roles.some((role) => !roles.includes(role));
      const values = { roles: [...roles], ...(isRemoved && revocation()) };
      user = (await update(transaction, values, own)) ?? user;
    }
    if (isActive !== before.isActive)
      user = (await update(transaction, { isActive, ...(isActive && revocation()) }, own)) ?? user;
    if (username !== undefined || emailVerified !== undefined)
      user = (await update(transaction, { username, emailVerified }, own)) ?? user;
    return user;
  };

  /**
   * Returns the user before and after the change, or null if the user does not exist. The resets in the outbox end if tokens end
   * or the user is deactivated.
   * @throws UserAlreadyExists
   * @throws what `check` throws
   */
  const changeAsOperator = async (
    id: number,
    change: OperatorChange,
    options: OperatorChangeOptions,
  ): Promise<ChangedUser | null> => {
    const { email } = change;
    const findField = async () => {
      const owner = email === undefined ? null : await findByEmail(email);
      return owner && owner.id !== id ? "email" : "username";
    };
    return transact(async (transaction) => {
      const before = await lock(transaction, id);
      if (!before) return null;
      options.check?.(before);
      return { before, user: await apply(transaction, before, change, options) };
    }).catch(explainConflict(findField));
  };

  const NONE = { hashedPassword: "", importedHash: null };
  const SILENT = { notifies: false, endedPassword: NONE };
  return {
    changeAsOperator,
    setActive: async (id: number, isActive: boolean) =>
      (await changeAsOperator(id, { isActive }, SILENT))?.user ?? null,
    setRoles: async (id: number, roles: readonly string[]) =>
      (await changeAsOperator(id, { roles }, SILENT))?.user ?? null,
    setEmail: async (
      { id }: Pick<User, "id">,
      email: string,
      { notifies, ...endedPassword }: EmailReplacement,
    ) => (await changeAsOperator(id, { email }, { notifies, endedPassword }))?.user ?? null,
  };
}
