/** The keys of services under test. */
import { generateKeyPairSync } from "node:crypto";

/** Signs tokens: strong, and fixed, because tests sign tokens, too. */
export const SECRET_KEY = "Zk3vR9wq-T1yXb6Lm8sPd0fGh2jKc4nVe5aUoIi7BtWrQzYx_EgJpNsMlHuFdCaS";

export type KeyPairPem = ReturnType<typeof createKeyPair>;

/** Returns the PEM of the configuration. */
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

/** Variables of a service that signs with this private key, in place of the secret key of other tests. */
export const privateKeyVariables = (
  algorithm: "ES256" | "EdDSA",
  { privatePem } = createKeyPair(algorithm),
) => ({
  AUTH_SECRET_KEY: undefined,
  AUTH_ALGORITHM: algorithm,
  AUTH_PRIVATE_KEY: privatePem,
});
