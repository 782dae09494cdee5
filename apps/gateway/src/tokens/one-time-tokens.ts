/**
 * One-time tokens in the links of mails. A token is a signed statement, which is not stored. A token is valid for one purpose
 * and one user, until the token expires or a bound value of the user changes (`BINDINGS`). Resets and e-mail changes change a
 * bound value, so the tokens for `reset` and `email-change` work once.
 */
import type { KeyMaterial, LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import { createStatements, type Mac } from "./signed-statements.ts";

/** An invitation links to a reset of its own text. */
export type Purpose = Exclude<LinkKind, "invitation">;
/** The members of a user on which tokens depend. */
export type TokenUser = Pick<
  User,
  "id" | "email" | "emailVerified" | "hashedPassword" | "tokenVersion" | "pendingEmail" | "linkRevision"
>;

const bindPassword = ({ hashedPassword, tokenVersion }: TokenUser) => [saltOf(hashedPassword), tokenVersion];
/** A verification of the present e-mail ends links that were sent without the approval of its mailbox. */
const bindEmailChange = (user: TokenUser) => [
  ...bindPassword(user),
  ...[user.email, String(user.emailVerified), user.pendingEmail ?? "", user.linkRevision],
];

/** The values of a user to which tokens are bound, by purpose. No value contains a space. */
const BINDINGS: Readonly<Record<Purpose, (user: TokenUser) => readonly (string | number)[]>> = {
  reset: bindPassword,
  verification: ({ email }) => [email],
  "email-change-approval": bindEmailChange,
  "email-change": bindEmailChange,
};

type Payload = readonly [Purpose, userId: number, expiresAt: number, state: string];

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
    /** @param expiresAt in milliseconds since the epoch */
    sign: (purpose: Purpose, expiresAt: number, user: TokenUser): string =>
      statements.sign([purpose, user.id, expiresAt, stateOf(statements.signing, purpose, user)]),
    /** Returns null if the token is malformed, forged, expired or for another purpose. */
    verify(token: string, purpose: Purpose) {
      const payload = statements.verify(token, purpose);
      if (!payload) return null;
      const [, userId, , state] = payload;
      return {
        userId,
        /** Whether the user still has all values to which the token is bound. */
        isCurrent: (user: TokenUser): boolean => hasState(state, purpose, user),
      };
    },
  };
}
