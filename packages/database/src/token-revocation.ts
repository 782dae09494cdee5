/**
 * Decides which tokens are revoked, in a function and in an SQL condition. The conformance suite of users checks that both
 * agree.
 */
import { and, eq, gt, or, sql } from "drizzle-orm";
import type { Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";

/** A statement that changes a user checks this condition: the user is active, and this token is valid. */
export interface ValidToken {
  /** The user's `tokenVersion`, or a lower version if the token made the latest password change. */
  readonly version: number;
  readonly tokenId: string | null;
  /** If this hash is set, the user must also have this hash. */
  readonly hashedPassword?: string;
  /**
   * Only for an imported user. If a login has replaced the imported hash, this `tokenVersion` is compared instead of the hash:
   * such a rehash must not revoke a request in flight.
   */
  readonly importedVersion?: number | undefined;
}

export type HashCondition = Pick<ValidToken, "hashedPassword" | "importedVersion">;

/** A valid token has the user's `tokenVersion`, or has a lower version and made the latest password change. */
export function isRevoked(token: ValidToken, user: User): boolean {
  const { version, tokenId } = token;
  if (token.hashedPassword !== undefined && !hasHash(user, token)) return true;
  const isKept = tokenId !== null && tokenId === user.passwordChangeTokenId;
  return version !== user.tokenVersion && !(isKept && version < user.tokenVersion);
}

/**
 * Whether the user still has the password of this hash. A login can have replaced the imported hash by another hash of the
 * same password.
 */
export const hasHash = (user: User, { hashedPassword, importedVersion }: HashCondition): boolean =>
  hashedPassword === user.hashedPassword ||
  (user.importedHash === null && user.tokenVersion === importedVersion);

/** The same as `hasHash` in SQL. */
export const hasHashOf = (users: Tables["users"], { hashedPassword, importedVersion }: HashCondition) =>
  hashedPassword === undefined
    ? undefined
    : or(
        eq(users.hashedPassword, hashedPassword),
        sql`(${users.importedHash} is null and ${users.tokenVersion} = ${importedVersion ?? null})`,
      );

/** The SQL condition: the user is active, and the token is not revoked. */
export const isValidToken = (users: Tables["users"], { version, tokenId, ...hash }: ValidToken) =>
  and(
    eq(users.isActive, true),
    or(
      eq(users.tokenVersion, version),
      and(gt(users.tokenVersion, version), sql`${users.passwordChangeTokenId} = ${tokenId}`),
    ),
    hasHashOf(users, hash),
  );
