/**
 * The signed states of second factors, which the service does not store: of a login whose first factor is proved, and of an enrolment
 * that is not confirmed. A state is valid until it expires or a bound value of the user changes. It is no token.
 */
import { createHash, randomBytes } from "node:crypto";
import { MAILS } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { Mac } from "@latchkey/limits";
import type { AuthenticationMethods } from "./authentication-methods.ts";
import { isOneOf, truncatedCode } from "./codes.ts";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

/** What the first factor proved. */
export interface ProvedFactor {
  readonly amr: AuthenticationMethods | undefined;
  readonly provider: string | undefined;
  /** Whether a mailed code proved the mailbox of an e-mail that is not verified. */
  readonly verifiesEmail: boolean;
}

type BoundUser = Pick<User, "id" | "tokenVersion" | "hashedPassword" | "factorId">;
/** The salt is hashed because clients can read a state. */
type Binding = readonly [tokenVersion: number, saltDigest: string, factorId: string | null];
type LoginPayload = readonly ["factor-login", userId: number, expiresAt: number, Binding, ProvedFactor];
type CreationPayload = readonly [
  ...["factor-creation", userId: number, expiresAt: number, Binding],
  ...[secret: string, nonce: string],
];

const LOGIN_LIFETIME_MS = 5 * 60 * 1000;
const DIGITS = 8;

export interface FactorStates {
  beginLogin(user: BoundUser, proved: ProvedFactor): string;
  /** Returns null if the state is malformed, forged or expired. */
  verifyLogin(
    state: string,
  ): (ProvedFactor & { readonly userId: number; isCurrent(user: BoundUser): boolean }) | null;
  /** @param secret in base64url. `nonce` identifies the mailed code in the outbox */
  beginCreation(user: BoundUser, secret: string): { readonly state: string; readonly nonce: string };
  /** Returns null if the state is malformed, forged, expired, or of another state of the user. */
  verifyCreation(state: string, user: BoundUser): { readonly secret: string; readonly nonce: string } | null;
  /** The code that proves the mailbox. */
  emailCodeOf(nonce: string, user: BoundUser): string;
  isEmailCode(code: string, nonce: string, user: BoundUser): boolean;
}

const bindingOf = ({ tokenVersion, hashedPassword, factorId }: BoundUser): Binding => {
  const saltDigest = createHash("sha256").update(saltOf(hashedPassword)).digest("base64url");
  return [tokenVersion, saltDigest, factorId];
};

export function createFactorStates(materials: KeyMaterials): FactorStates {
  const signer = createSigner<LoginPayload | CreationPayload>(materials, "second factors");
  const isCurrent = (userId: number, binding: Binding, user: BoundUser): boolean =>
    userId === user.id && JSON.stringify(binding) === JSON.stringify(bindingOf(user));
  /** The MAC of a state is computed from base64url. The spaces in this input ensure that no code is the MAC of a state. */
  const emailCodeOf = (mac: Mac, nonce: string, user: BoundUser): string =>
    truncatedCode(mac(`code ${nonce} ${user.id} ${bindingOf(user).join(" ")}`), DIGITS);

  return {
    beginLogin: (user, { amr, provider, verifiesEmail }) =>
      signer.sign([
        ...(["factor-login", user.id, Date.now() + LOGIN_LIFETIME_MS, bindingOf(user)] as const),
        { amr, provider, verifiesEmail },
      ]),
    verifyLogin(state) {
      const payload = signer.verify(state, "factor-login");
      if (payload?.[0] !== "factor-login") return null;
      const [, userId, , binding, { amr, provider, verifiesEmail }] = payload;
      return { userId, amr, provider, verifiesEmail, isCurrent: (user) => isCurrent(userId, binding, user) };
    },
    beginCreation(user, secret) {
      const nonce = randomBytes(16).toString("base64url");
      const expiresAt = Date.now() + MAILS["factor-code"].lifetimeMs;
      const state = signer.sign([
        ...(["factor-creation", user.id, expiresAt, bindingOf(user), secret, nonce] as const),
      ]);
      return { state, nonce };
    },
    verifyCreation(state, user) {
      const payload = signer.verify(state, "factor-creation");
      if (payload?.[0] !== "factor-creation") return null;
      const [, userId, , binding, secret, nonce] = payload;
      return isCurrent(userId, binding, user) ? { secret, nonce } : null;
    },
    emailCodeOf: (nonce, user) => emailCodeOf(signer.signing, nonce, user),
    isEmailCode: (code, nonce, user) =>
      isOneOf(
        code,
        signer.verification.map((mac) => emailCodeOf(mac, nonce, user)),
      ),
  };
}
