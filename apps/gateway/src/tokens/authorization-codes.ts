/**
 * The codes of hosted login. A code is a signed payload, which is not stored. It is bound to the user and the version of the tokens, to
 * the client and the redirect URI, and to a challenge whose verifier only the client has.
 */
import { createHash, randomBytes } from "node:crypto";
import type { LoginClaims } from "./authentication-methods.ts";
import { challengeOf } from "./oidc-states.ts";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

export interface AuthorizationRequestOf {
  readonly userId: number;
  /** The token version of the user. */
  readonly version: number;
  /** The claims of the login on the page. */
  readonly login: LoginClaims;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

type Payload = readonly [
  ...["authorization", userId: number, expiresAt: number, nonce: string, version: number],
  ...[login: LoginClaims, clientId: string, redirectUriDigest: string, challengeDigest: string],
];

export const CODE_LIFETIME_MS = 60 * 1000;

/** A verified code. */
export interface AuthorizationCode extends Pick<AuthorizationRequestOf, "userId" | "version" | "login"> {
  /** Identifies the code, so that its use can be remembered. */
  readonly nonce: string;
  isOf(clientId: string): boolean;
  /** @param redirectUri undefined: the client did not repeat it */
  isFor(redirectUri: string | undefined): boolean;
  isVerifiedBy(verifier: string): boolean;
}

export interface AuthorizationCodes {
  issue(request: AuthorizationRequestOf): string;
  /** Returns null if the code is malformed, forged or expired. */
  verify(code: string): AuthorizationCode | null;
}

/** A digest, because a URI can be longer than a code, and a code is in the address. */
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

export function createAuthorizationCodes(materials: KeyMaterials): AuthorizationCodes {
  const signer = createSigner<Payload>(materials, "authorization codes");
  return {
    issue({ userId, version, login, clientId, redirectUri, challenge }) {
      const nonce = randomBytes(16).toString("base64url");
      return signer.sign([
        ...(["authorization", userId, Date.now() + CODE_LIFETIME_MS, nonce, version] as const),
        ...([login, clientId, digest(redirectUri), digest(challenge)] as const),
      ]);
    },
    verify(code) {
      const payload = signer.verify(code, "authorization");
      if (!payload) return null;
      const [, userId, , nonce, version, login, ownClientId, uriDigest, challengeDigest] = payload;
      return {
        userId,
        nonce,
        version,
        login,
        isOf: (clientId) => clientId === ownClientId,
        isFor: (redirectUri) => redirectUri === undefined || digest(redirectUri) === uriDigest,
        isVerifiedBy: (verifier) => digest(challengeOf(verifier)) === challengeDigest,
      };
    },
  };
}
