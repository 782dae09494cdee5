/**
 * One-time tokens in the links of mails. A token is a signed payload, which is not stored. A token is valid for one purpose
 * and one user, until the token expires or a bound value of the user changes (`BINDINGS`). Resets and e-mail changes change a
 * bound value, so the tokens for `reset` and `email-change` work once.
 */
import type { LinkKind } from "@latchkey/contracts";
import { hasPassword, type User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { Mac } from "@latchkey/limits";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

/** An invitation links to a reset, which is bound to other values. */
export type Purpose = Exclude<LinkKind, "invitation">;
/** The members of a user on which tokens depend. */
export type TokenUser = Pick<
  User,
  | "id"
  | "email"
  | "emailVerified"
  | "hashedPassword"
  | "importedHash"
  | "tokenVersion"
  | "pendingEmail"
  | "linkRevision"
>;

const bindPassword = ({ hashedPassword, tokenVersion }: TokenUser) => [saltOf(hashedPassword), tokenVersion];
/** A verification of the present e-mail ends links that were sent without the approval of its mailbox. */
const bindEmailChange = (user: TokenUser) => [
  ...bindPassword(user),
  ...[user.email, String(user.emailVerified), user.pendingEmail ?? "", user.linkRevision],
];

/** The values of a user to which tokens are bound, by kind of the link. No value contains a space. */
const BINDINGS: Readonly<Record<LinkKind, (user: TokenUser) => readonly (string | number)[]>> = {
  reset: bindPassword,
  // Survives changes by operators in its seven days, such as a removed role. Whoever sets a password ends it, and so does a restore.
  invitation: ({ hashedPassword, email, linkRevision }) => [
    "invitation",
    hashedPassword,
    email,
    linkRevision,
  ],
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
  bindingDigestOf(kind: LinkKind, user: TokenUser): string;
  /** Whether `bindingDigest` is still the digest of these values. */
  isBoundTo(bindingDigest: string | null, kind: LinkKind, user: TokenUser): boolean;
  /** @param expiresAt in milliseconds since the epoch */
  sign(kind: LinkKind, expiresAt: number, user: TokenUser): string;
  /** Returns null if the token is malformed, forged, expired or for another purpose. */
  verify(token: string, purpose: Purpose): OneTimeToken | null;
}

export function createOneTimeTokens(materials: KeyMaterials): OneTimeTokens {
  const signer = createSigner<Payload>(materials, "one-time tokens");
  /** The MAC of a token is computed from base64url. The space in this input ensures that no digest is the MAC of a token. */
  const bindingDigestOf = (mac: Mac, kind: LinkKind, user: TokenUser): string =>
    mac(`state ${BINDINGS[kind](user).join(" ")}`)
      .toString("base64url")
      .slice(0, 32);
  const isBoundTo = (bindingDigest: string | null, kind: LinkKind, user: TokenUser): boolean =>
    signer.verification.some((mac) => bindingDigestOf(mac, kind, user) === bindingDigest);

  return {
    bindingDigestOf: (kind, user) => bindingDigestOf(signer.signing, kind, user),
    isBoundTo,
    sign(kind, expiresAt, user) {
      const purpose = kind === "invitation" ? "reset" : kind;
      return signer.sign([purpose, user.id, expiresAt, bindingDigestOf(signer.signing, kind, user)]);
    },
    verify(token, purpose) {
      const payload = signer.verify(token, purpose);
      if (!payload) return null;
      const [, userId, , bindingDigest] = payload;
      // Releases up to 2.0.1 bound invitations like resets.
      const isInvitation = (user: TokenUser) =>
        purpose === "reset" && !hasPassword(user) && isBoundTo(bindingDigest, "invitation", user);
      const isCurrent = (user: TokenUser) => isBoundTo(bindingDigest, purpose, user) || isInvitation(user);
      return { userId, isCurrent };
    },
  };
}
