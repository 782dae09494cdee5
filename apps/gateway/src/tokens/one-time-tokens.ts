/**
 * One-time tokens in the links of mails. A token is a signed payload, which is not stored. A token is valid for one purpose
 * and one user, until the token expires or a bound value of the user changes (`BINDINGS`). Resets and e-mail changes change a
 * bound value, so the tokens for `reset` and `email-change` work once.
 */
import type { LinkKind, Mac } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

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

type Payload = readonly [Purpose, userId: number, expiresAt: number, bindingDigest: string];

/** A verified token. */
interface OneTimeToken {
  readonly userId: number;
  /** Whether the user still has all values to which the token is bound. */
  isCurrent(user: TokenUser): boolean;
}

export interface OneTimeTokens {
  /** Returns a digest of the values to which a token for this user is bound. */
  bindingDigestOf(purpose: Purpose, user: TokenUser): string;
  /** Whether `bindingDigest` is still the digest of these values. */
  isBoundTo(bindingDigest: string | null, purpose: Purpose, user: TokenUser): boolean;
  /** @param expiresAt in milliseconds since the epoch */
  sign(purpose: Purpose, expiresAt: number, user: TokenUser): string;
  /** Returns null if the token is malformed, forged, expired or for another purpose. */
  verify(token: string, purpose: Purpose): OneTimeToken | null;
}

export function createOneTimeTokens(materials: KeyMaterials): OneTimeTokens {
  const signer = createSigner<Payload>(materials, "one-time tokens");
  /** The MAC of a token is computed from base64url. The space in this input ensures that no digest is the MAC of a token. */
  const bindingDigestOf = (mac: Mac, purpose: Purpose, user: TokenUser): string =>
    mac(`state ${BINDINGS[purpose](user).join(" ")}`)
      .toString("base64url")
      .slice(0, 32);
  const isBoundTo = (bindingDigest: string | null, purpose: Purpose, user: TokenUser): boolean =>
    signer.verification.some((mac) => bindingDigestOf(mac, purpose, user) === bindingDigest);

  return {
    bindingDigestOf: (purpose, user) => bindingDigestOf(signer.signing, purpose, user),
    isBoundTo,
    sign: (purpose, expiresAt, user) =>
      signer.sign([purpose, user.id, expiresAt, bindingDigestOf(signer.signing, purpose, user)]),
    verify(token, purpose) {
      const payload = signer.verify(token, purpose);
      if (!payload) return null;
      const [, userId, , bindingDigest] = payload;
      return { userId, isCurrent: (user) => isBoundTo(bindingDigest, purpose, user) };
    },
  };
}
