/**
 * The `state` and `nonce` of logins with OpenID Connect providers. A state is a signed statement, which is not stored. It is bound to
 * the provider, to the page of the application, and to a challenge whose verifier only the application has.
 */
import { createHash, randomBytes } from "node:crypto";
import type { KeyMaterial } from "@latchkey/contracts";
import { createStatements } from "./signed-statements.ts";

/** What an authorization response belongs to. A state ends if one of the values is removed from the configuration. */
export interface OidcBinding {
  readonly provider: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

type Payload = readonly ["oidc", random: string, expiresAt: number, challenge: string, bindingDigest: string];

const LIFETIME_MS = 10 * 60 * 1000;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");
/** A digest, because a page can be longer than a state. */
const digestOf = ({ provider, issuer, clientId, redirectUri }: OidcBinding): string =>
  digest(JSON.stringify([provider, issuer, clientId, redirectUri]));
const nonceOf = (state: string): string => digest(`nonce ${state}`);

/** The S256 challenge of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string => digest(verifier);

/** @param materials see `createStatements` */
export function createOidcStates(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<Payload>(materials, "openid connect");
  return {
    begin(binding: OidcBinding, challenge: string) {
      const random = randomBytes(16).toString("base64url");
      const expiresAt = Date.now() + LIFETIME_MS;
      const state = statements.sign(["oidc", random, expiresAt, challenge, digestOf(binding)]);
      return { state, nonce: nonceOf(state) };
    },
    /** Returns null if the state is malformed, forged or expired. */
    verify(state: string) {
      const statement = statements.verify(state, "oidc");
      if (!statement) return null;
      const [, , , challenge, bindingDigest] = statement;
      return {
        challenge,
        nonce: nonceOf(state),
        isBoundTo: (binding: OidcBinding): boolean => digestOf(binding) === bindingDigest,
      };
    },
  };
}
