/** The condition of `ValidToken` in a statement. */
import { and, eq, gt, or, sql } from "drizzle-orm";
import type { ValidToken } from "./repositories.ts";
import type { Tables } from "./repository-client.ts";

/** As `isRevoked` of the service defines it, and the user is active. */
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
