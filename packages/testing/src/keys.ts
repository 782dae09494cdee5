/** The keys of services under test. */
import { generateKeyPairSync } from "node:crypto";

/** The strong key with which services sign tokens. It is fixed because tests also sign tokens. */
export const SECRET_KEY = "Zk3vR9wq-T1yXb6Lm8sPd0fGh2jKc4nVe5aUoIi7BtWrQzYx_EgJpNsMlHuFdCaS";
/** 32 bytes in base64url. */
export const FACTOR_KEY = "Yk8wQ0pXb1R2TGhGc0RtR3pCcU5lS3lVaVJ4UGFIY0E";

export type KeyPairPem = ReturnType<typeof createKeyPair>;

/** Returns a new key pair in PEM, the format of the configuration. */
export function createKeyPair(algorithm: "ES256" | "EdDSA") {
  const { privateKey, publicKey } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("ed25519");
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** Environment variables of a service that signs with this private key instead of {@link SECRET_KEY}. */
export const privateKeyVariables = (
  algorithm: "ES256" | "EdDSA",
  { privatePem } = createKeyPair(algorithm),
) => ({
  AUTH_SECRET_KEY: undefined,
  AUTH_ALGORITHM: algorithm,
  AUTH_PRIVATE_KEY: privatePem,
});
