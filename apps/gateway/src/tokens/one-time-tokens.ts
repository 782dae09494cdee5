/**
 * One-time tokens in the links of mails: signed statements, of which nothing is stored. A token is valid for one purpose and one
 * user, until it expires or the state to which it is bound changes. A reset and a change of e-mail change that state: their
 * tokens work once.
 */
import type { LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { KeyMaterial } from "./derived-mac.ts";
import { createStatements, type Mac } from "./signed-statements.ts";

export type Purpose = LinkKind;
/** What a token depends on. */
export type TokenUser = Pick<User, "id" | "email" | "hashedPassword" | "tokenVersion">;

/** By purpose, what its tokens are bound to; none of it contains a space. */
const BINDINGS: Readonly<Record<Purpose, (user: TokenUser) => readonly (string | number)[]>> = {
  reset: ({ hashedPassword, tokenVersion }) => [saltOf(hashedPassword), tokenVersion],
  verification: ({ email }) => [email],
  "email-change": ({ hashedPassword, tokenVersion, email }) => [saltOf(hashedPassword), tokenVersion, email],
};

type Payload = readonly [Purpose, userId: number, expiresAt: number, state: string, newEmail?: string];

/** @param materials as of `createStatements` */
export function createOneTimeTokens(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<Payload>(materials, "one-time tokens");
  /** Signed texts are base64url, so a state, which has a space, is never one. */
  const stateOf = (mac: Mac, purpose: Purpose, user: TokenUser): string =>
    mac(`state ${BINDINGS[purpose](user).join(" ")}`)
      .toString("base64url")
      .slice(0, 32);
  const hasState = (state: string | null, purpose: Purpose, user: TokenUser): boolean =>
    statements.verification.some((mac) => stateOf(mac, purpose, user) === state);

  return {
    /** A digest of what a token for this user is bound to. */
    stateOf: (purpose: Purpose, user: TokenUser): string => stateOf(statements.signing, purpose, user),
    /** Whether this is still the digest. */
    hasState,
    /**
     * @param expiresAt in milliseconds since the epoch
     * @param newEmail of a change of e-mail
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
        /** Whether nothing to which the token is bound has changed since it was signed. */
        isCurrent: (user: TokenUser): boolean => hasState(state, purpose, user),
      };
    },
  };
}
