/**
 * The `state` and `nonce` of logins with OpenID Connect providers. A state is a signed statement, which is not stored. It is bound to
 * the provider, the page of the application and the challenge whose verifier only the application has.
 */
import { createHash, randomBytes } from "node:crypto";
import type { KeyMaterial } from "./derived-mac.ts";
import { createStatements } from "./signed-statements.ts";

/** What an authorization response belongs to. */
export interface OidcBinding {
  /** The issuer and the client id of the provider: a state ends if the configuration of its provider changes. */
  readonly client: string;
  readonly redirectUri: string;
  /** The S256 challenge of the verifier (RFC 7636). */
  readonly challenge: string;
}

type Payload = readonly ["oidc", nonce: string, expiresAt: number, OidcBinding];

const LIFETIME_MS = 10 * 60 * 1000;

/** The nonce reveals nothing about the state, and no other state has it. */
const nonceOf = (state: string): string => createHash("sha256").update(`nonce ${state}`).digest("base64url");

/** @param materials see `createStatements` */
export function createOidcStates(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<Payload>(materials, "openid connect");
  return {
    begin({ client, redirectUri, challenge }: OidcBinding) {
      const binding = { client, redirectUri, challenge };
      const random = randomBytes(16).toString("base64url");
      const state = statements.sign(["oidc", random, Date.now() + LIFETIME_MS, binding]);
      return { state, nonce: nonceOf(state) };
    },
    /** Returns null if the state is malformed, forged or expired. */
    verify(state: string) {
      const statement = statements.verify(state, "oidc");
      return statement && { ...statement[3], nonce: nonceOf(state) };
    },
  };
}

/** The S256 challenge of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string =>
  createHash("sha256").update(verifier).digest("base64url");
