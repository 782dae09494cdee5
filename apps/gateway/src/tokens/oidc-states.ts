/**
 * The `state` and `nonce` of logins with OpenID Connect providers. A state is a signed payload, which is not stored. It is bound to
 * the provider, to the page of the application, and to a challenge whose verifier only the application has.
 */
import { createHash, randomBytes } from "node:crypto";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

/** What an authorization response belongs to. A state ends if one of the values is removed from the configuration. */
export interface OidcBinding {
  readonly provider: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

type Payload = readonly [
  ...["oidc", random: string, expiresAt: number, challenge: string, bindingDigest: string],
  port?: string | null,
];

const LIFETIME_MS = 10 * 60 * 1000;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");
/** A digest, because a page can be longer than a state. */
const bindingDigestOf = ({ provider, issuer, clientId, redirectUri }: OidcBinding): string =>
  digest(JSON.stringify([provider, issuer, clientId, redirectUri]));
const nonceOf = (state: string): string => digest(`nonce ${state}`);

/** The S256 challenge of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string => digest(verifier);

/** A verified state. */
interface OidcState {
  readonly challenge: string;
  readonly nonce: string;
  /** The port of a page at a loopback address; undefined: the one of the configured page. */
  readonly port: string | undefined;
  isBoundTo(binding: OidcBinding): boolean;
}

export interface OidcStates {
  begin(
    binding: OidcBinding,
    challenge: string,
    port?: string,
  ): { readonly state: string; readonly nonce: string };
  /** Returns null if the state is malformed, forged or expired. */
  verify(state: string): OidcState | null;
}

export function createOidcStates(materials: KeyMaterials): OidcStates {
  const signer = createSigner<Payload>(materials, "openid connect");
  return {
    begin(binding, challenge, port) {
      const random = randomBytes(16).toString("base64url");
      const expiresAt = Date.now() + LIFETIME_MS;
      const bindingDigest = bindingDigestOf(binding);
      const state = signer.sign(["oidc", random, expiresAt, challenge, bindingDigest, port ?? null]);
      return { state, nonce: nonceOf(state) };
    },
    verify(state) {
      const payload = signer.verify(state, "oidc");
      if (!payload) return null;
      const [, , , challenge, bindingDigest, port] = payload;
      return {
        challenge,
        port: port ?? undefined,
        nonce: nonceOf(state),
        isBoundTo: (binding) => bindingDigestOf(binding) === bindingDigest,
      };
    },
  };
}
