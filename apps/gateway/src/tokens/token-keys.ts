/** The keys that sign and verify tokens, the public keys for other services, and digests with keys derived from the signing key. */
import type { AuthAlgorithm, PublicKey, SecretAlgorithm } from "@latchkey/config";
import type { PublicKeySet } from "@latchkey/contracts";
import { createDigests, type Digests, type KeyMaterial, toKeyMaterial } from "@latchkey/limits";
import { calculateJwkThumbprint, importJWK, importPKCS8 } from "jose";
import type { Config } from "../config.ts";
import { type AuthorizationCodes, createAuthorizationCodes } from "./authorization-codes.ts";
import { createEventCursors, type EventCursors } from "./event-cursors.ts";
import { createFactorStates, type FactorStates } from "./factor-states.ts";
import { createLoginCodes, type LoginCodes } from "./login-codes.ts";
import { createOidcStates, type OidcStates } from "./oidc-states.ts";
import { createOneTimeTokens, type OneTimeTokens } from "./one-time-tokens.ts";
import { createPasskeyChallenges, type PasskeyChallenges } from "./passkey-challenges.ts";

/** A key that is used with one algorithm only. */
export interface TokenKey {
  readonly algorithm: AuthAlgorithm;
  readonly key: CryptoKey;
  /** The thumbprint of the key (RFC 7638); null for a secret key. */
  readonly kid: string | null;
  /** Whether the key does not sign any more. @default false */
  readonly isPrevious?: boolean;
  /** The bytes of the same key; only for a secret key. */
  readonly secret?: Uint8Array;
}

export interface TokenKeys {
  readonly signing: TokenKey;
  /** The key that verifies tokens of `signing` comes first, because most of the tokens in use are signed by `signing`. */
  readonly verification: readonly TokenKey[];
  readonly publicKeySet: PublicKeySet;
  readonly digests: Digests;
  readonly oneTimeTokens: OneTimeTokens;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly loginCodes: LoginCodes;
  readonly factorStates: FactorStates;
  readonly oidcStates: OidcStates;
  readonly authorizationCodes: AuthorizationCodes;
  readonly eventCursors: EventCursors;
}

/** @param openSecretKey returns the stored secret key; called only if neither a secret nor a private key is configured */
export async function importTokenKeys(
  options: Config["tokenKeys"],
  openSecretKey: (algorithm: SecretAlgorithm) => string,
): Promise<TokenKeys> {
  const { privateKey, nextPublicKey, previousPublicKey, previousSecretKey } = options;
  const given = [privateKey, nextPublicKey, previousPublicKey].filter((key) => key !== null);
  const publicKeys = await Promise.all(given.map(importPublicKey));
  const [ownPublicKey] = publicKeys;
  const algorithm = secretAlgorithmOf(options.algorithm);
  const previousSecrets = previousSecretKey === null ? [] : [previousSecretKey];
  const previous = await Promise.all(previousSecrets.map((secret) => importSecretKey(secret, algorithm)));
  const others: readonly TokenKey[] = [
    ...publicKeys.map((key, index) => ({ ...key, isPrevious: given[index] === previousPublicKey })),
    ...previous.map((key) => ({ ...key, isPrevious: true })),
  ];
  const publicKeySet: PublicKeySet = { keys: publicKeys.map(({ jwk }) => jwk) };
  const keysOf = (signing: TokenKey, verification: readonly TokenKey[], material: KeyMaterial): TokenKeys => {
    const materials = [material, ...previousSecrets] as const;
    return {
      signing,
      verification,
      publicKeySet,
      digests: createDigests(material),
      oneTimeTokens: createOneTimeTokens(materials),
      passkeyChallenges: createPasskeyChallenges(materials),
      loginCodes: createLoginCodes(materials),
      factorStates: createFactorStates(materials),
      oidcStates: createOidcStates(materials),
      authorizationCodes: createAuthorizationCodes(materials),
      eventCursors: createEventCursors(materials),
    };
  };

  if (privateKey !== null && ownPublicKey) {
    const signing = { ...ownPublicKey, key: await importPKCS8(privateKey.pem, privateKey.algorithm) };
    return keysOf(signing, others, toKeyMaterial(privateKey.pem));
  }
  const secretKey = options.secretKey ?? openSecretKey(algorithm);
  const signing = await importSecretKey(secretKey, algorithm);
  return keysOf(signing, [signing, ...others], secretKey);
}

/** If a private key signs, secret keys verify HS256 tokens only. */
const secretAlgorithmOf = (algorithm: AuthAlgorithm): SecretAlgorithm =>
  algorithm === "ES256" || algorithm === "EdDSA" ? "HS256" : algorithm;

/** Imports the key once, because `jose` would import raw bytes for every token. */
async function importSecretKey(secret: string, algorithm: SecretAlgorithm): Promise<TokenKey> {
  const hmac = { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["sign", "verify"]);
  return { algorithm, key, kid: null, secret: bytes };
}

async function importPublicKey({ algorithm, jwk }: PublicKey) {
  const kid = await calculateJwkThumbprint(jwk);
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new TypeError("A public key is not a secret key");
  return { algorithm, key, kid, jwk: { ...jwk, alg: algorithm, use: "sig" as const, kid } };
}
