/**
 * One-time tokens in the links of mails. A token is a signed statement, which is not stored. A token is valid for one purpose
 * and one user, until the token expires or a bound value of the user changes (`BINDINGS`). Resets and e-mail changes change a
 * bound value, so the tokens for `reset` and `email-change` work once.
 */
import type { LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { KeyMaterial } from "./derived-mac.ts";
import { createStatements, type Mac } from "./signed-statements.ts";

export type Purpose = LinkKind;
/** The members of a user on which tokens depend. */
export type TokenUser = Pick<User, "id" | "email" | "hashedPassword" | "tokenVersion">;

/** The values of a user to which tokens are bound, by purpose. No value contains a space. */
const BINDINGS: Readonly<Record<Purpose, (user: TokenUser) => readonly (string | number)[]>> = {
  reset: ({ hashedPassword, tokenVersion }) => [saltOf(hashedPassword), tokenVersion],
  verification: ({ email }) => [email],
  "email-change": ({ hashedPassword, tokenVersion, email }) => [saltOf(hashedPassword), tokenVersion, email],
};

type Payload = readonly [Purpose, userId: number, expiresAt: number, state: string, newEmail?: string];

/** @param materials see `createStatements` */
export function createOneTimeTokens(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<Payload>(materials, "one-time tokens");
  /** A statement's MAC is computed from base64url. The space in this input ensures that no state is the MAC of a statement. */
  const stateOf = (mac: Mac, purpose: Purpose, user: TokenUser): string =>
    mac(`state ${BINDINGS[purpose](user).join(" ")}`)
      .toString("base64url")
      .slice(0, 32);
  const hasState = (state: string | null, purpose: Purpose, user: TokenUser): boolean =>
    statements.verification.some((mac) => stateOf(mac, purpose, user) === state);

  return {
    /** Returns a digest of the values to which a token for this user is bound. */
    stateOf: (purpose: Purpose, user: TokenUser): string => stateOf(statements.signing, purpose, user),
    /** Whether `state` is still the digest of these values. */
    hasState,
    /**
     * @param expiresAt in milliseconds since the epoch
     * @param newEmail only for the purpose `email-change`
     */
    sign(purpose: Purpose, expiresAt: number, user: TokenUser, newEmail?: string): string {
      const payload = [purpose, user.id, expiresAt, stateOf(statements.signing, purpose, user)] as const;
      return statements.sign(newEmail === undefined ? payload : [...payload, newEmail]);
    },
    /** Returns null if the token is malformed, forged, expired or for another purpose. */
    verify(token: string, purpose: Purpose) {
      const payload = statements.verify(token, purpose);
      if (!payload) return null;
      const [, userId, , state, newEmail] = payload;
      return {
        userId,
        newEmail,
        /** Whether the user still has all values to which the token is bound. */
        isCurrent: (user: TokenUser): boolean => hasState(state, purpose, user),
      };
    },
  };
}
