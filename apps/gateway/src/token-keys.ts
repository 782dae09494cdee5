/** The keys that sign and verify tokens, their public parts for other services, and the keys that are derived from them. */
import { createPrivateKey, hkdfSync } from "node:crypto";
import type { AuthAlgorithm, PublicKey, SecretAlgorithm } from "@latchkey/config";
import type { PublicKeySet } from "@latchkey/contracts";
import { calculateJwkThumbprint, importJWK, importPKCS8 } from "jose";
import type { Config } from "./config.ts";

/** A key for one algorithm. */
export interface TokenKey {
  readonly algorithm: AuthAlgorithm;
  readonly key: CryptoKey;
  /** RFC 7638; null for a secret key. */
  readonly kid: string | null;
}

export interface TokenKeys {
  readonly signing: TokenKey;
  /** The signing key's first, because most tokens are its own. */
  readonly verification: readonly TokenKey[];
  readonly publicKeySet: PublicKeySet;
  /**
   * Derives 32 bytes from the signing key for keyed digests, so that the service needs no further secret.
   * @param label what the digests are for; keys with different labels are independent
   */
  readonly deriveDigestKey: (label: string) => Uint8Array;
}

interface TokenKeysOptions
  extends Pick<
    Config["auth"],
    "algorithm" | "secretKey" | "previousSecretKey" | "privateKey" | "nextPublicKey" | "previousPublicKey"
  > {
  /** Returns the stored secret key; called only if neither a secret nor a private key is configured. */
  readonly openSecretKey: (algorithm: SecretAlgorithm) => string;
}

export async function importTokenKeys(options: TokenKeysOptions): Promise<TokenKeys> {
  const { privateKey, nextPublicKey, previousPublicKey, previousSecretKey } = options;
  const publicKeys = await Promise.all(
    [privateKey, nextPublicKey, previousPublicKey].filter((key) => key !== null).map(importPublicKey),
  );
  const [ownPublicKey] = publicKeys;
  const algorithm = secretAlgorithmOf(options.algorithm);
  const previous = previousSecretKey === null ? [] : [await importSecretKey(previousSecretKey, algorithm)];
  const publicKeySet = { keys: publicKeys.map(({ jwk }) => jwk) };

  if (privateKey !== null && ownPublicKey) {
    const der = createPrivateKey(privateKey.pem).export({ type: "pkcs8", format: "der" });
    return {
      signing: { ...ownPublicKey, key: await importPKCS8(privateKey.pem, privateKey.algorithm) },
      verification: [...publicKeys, ...previous],
      publicKeySet,
      deriveDigestKey: (label) => deriveDigestKey(der, label),
    };
  }
  const secretKey = options.secretKey ?? options.openSecretKey(algorithm);
  const signing = await importSecretKey(secretKey, algorithm);
  return {
    signing,
    verification: [signing, ...previous, ...publicKeys],
    publicKeySet,
    deriveDigestKey: (label) => deriveDigestKey(secretKey, label),
  };
}

/** With a private key, secret keys verify tokens of HS256 only. */
const secretAlgorithmOf = (algorithm: AuthAlgorithm): SecretAlgorithm =>
  algorithm === "ES256" || algorithm === "EdDSA" ? "HS256" : algorithm;

/** Imports the key once; given its bytes, `jose` would import it for every token. */
async function importSecretKey(secret: string, algorithm: SecretAlgorithm): Promise<TokenKey> {
  const hmac = { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["sign", "verify"]);
  return { algorithm, key, kid: null };
}

async function importPublicKey({ algorithm, jwk }: PublicKey) {
  const kid = await calculateJwkThumbprint(jwk);
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new TypeError("A public key is not a secret key");
  return { algorithm, key, kid, jwk: { ...jwk, alg: algorithm, use: "sig" as const, kid } };
}

const DERIVED_KEY_BYTES = 32;

/**
 * HKDF with SHA-256 (RFC 5869).
 * @param material the secret key as text, or the bytes of the private key (PKCS#8, DER)
 */
const deriveDigestKey = (material: string | Uint8Array, label: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", material, "", `latchkey ${label}`, DERIVED_KEY_BYTES));
