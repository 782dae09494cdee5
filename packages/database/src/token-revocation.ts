/** Which tokens are valid or revoked, as a function and as the condition of a statement. The conformance suite of users compares them. */
import { and, eq, gt, or, sql } from "drizzle-orm";
import type { Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";

/** What must be true in the statement of a conditional change: the user is active, and this token is valid. */
export interface ValidToken {
  /** The user's version, or a lower one if the token made the latest password change. */
  readonly version: number;
  readonly tokenId: string | null;
  /** With it, the user must also have this hash. */
  readonly hashedPassword?: string;
  /** For an imported user, compare the token version instead: a rehash at login must not revoke a request in flight. */
  readonly importedVersion?: number | undefined;
}

export type HashCondition = Pick<ValidToken, "hashedPassword" | "importedVersion">;

/** A token has the version of its user, or it made the latest password change, when it had an earlier version. */
export function isRevoked(token: ValidToken, user: User): boolean {
  const { version, tokenId } = token;
  if (token.hashedPassword !== undefined && !hasHash(user, token)) return true;
  const isKept = tokenId !== null && tokenId === user.passwordChangeTokenId;
  return version !== user.tokenVersion && !(isKept && version < user.tokenVersion);
}

/** Whether the user has the password of this hash: also if a login has replaced the imported hash of that password since. */
export const hasHash = (user: User, { hashedPassword, importedVersion }: HashCondition): boolean =>
  hashedPassword === user.hashedPassword ||
  (user.importedHash === null && user.tokenVersion === importedVersion);

/** The user is active, and the token is not revoked. */
export const isValidToken = (
  users: Tables["users"],
  { version, tokenId, hashedPassword, importedVersion }: ValidToken,
) =>
  and(
    eq(users.isActive, true),
    or(
      eq(users.tokenVersion, version),
      and(gt(users.tokenVersion, version), sql`${users.passwordChangeTokenId} = ${tokenId}`),
    ),
    hashedPassword === undefined
      ? undefined
      : or(
          eq(users.hashedPassword, hashedPassword),
          sql`(${users.importedHash} is null and ${users.tokenVersion} = ${importedVersion ?? null})`,
        ),
  );
