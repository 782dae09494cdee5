/** Decides whether what a request proved is still valid, in a function and in SQL. The conformance suite compares both. */
import { and, eq, gt, or, sql } from "drizzle-orm";
import type { Password } from "../passwords.ts";
import type { Tables, User } from "../tables.ts";

/** A statement that changes a user checks this guard: the user is active, and nothing has revoked what the request proved. */
export interface Guard {
  /** The user's `tokenVersion`, or a lower version if the token made the latest password change. */
  readonly version: number;
  /** The id of a token that stays valid after the password change that it made. null: no token is excepted. */
  readonly exceptToken: string | null;
  /** If it is set, the user must also have this password. */
  readonly password?: PasswordGuard;
}

/** The password at the time of the request, by its hash. */
export interface PasswordGuard {
  readonly hash: string;
  /**
   * Only for an imported user. If a login has replaced the imported hash, this `tokenVersion` is compared instead of the hash:
   * such a rehash must not revoke a request in flight.
   */
  readonly importedVersion?: number | undefined;
}

/** The columns that show whether a guard is met. */
type GuardedUser = Password & Pick<User, "tokenVersion" | "passwordChangeTokenId">;

/** A valid token has the user's `tokenVersion`, or has a lower version and made the latest password change. */
export function isRevoked({ version, exceptToken, password }: Guard, user: GuardedUser): boolean {
  if (password && !hasGuardedPassword(user, password)) return true;
  const isKept = exceptToken !== null && exceptToken === user.passwordChangeTokenId;
  return version !== user.tokenVersion && !(isKept && version < user.tokenVersion);
}

/** Whether the user still has the password. A login can have replaced the imported hash by another hash of the same password. */
export const hasGuardedPassword = (user: GuardedUser, { hash, importedVersion }: PasswordGuard): boolean =>
  hash === user.hashedPassword || (user.importedHash === null && user.tokenVersion === importedVersion);

/** The same as `hasGuardedPassword` in SQL. */
export const meetsPasswordGuard = (users: Tables["users"], { hash, importedVersion }: PasswordGuard) =>
  or(
    eq(users.hashedPassword, hash),
    sql`(${users.importedHash} is null and ${users.tokenVersion} = ${importedVersion ?? null})`,
  );

/** The SQL condition: the user is active, and the guard holds. */
export const meetsGuard = (users: Tables["users"], { version, exceptToken, password }: Guard) =>
  and(
    eq(users.isActive, true),
    or(
      eq(users.tokenVersion, version),
      and(gt(users.tokenVersion, version), sql`${users.passwordChangeTokenId} = ${exceptToken}`),
    ),
    password && meetsPasswordGuard(users, password),
  );
