/** Key pairs of the asymmetric algorithms, as the PEM of the configuration. */
import { generateKeyPairSync } from "node:crypto";

export interface KeyPairPem {
  readonly privatePem: string;
  readonly publicPem: string;
}

export function createKeyPair(algorithm: "ES256" | "EdDSA"): KeyPairPem {
  const { privateKey, publicKey } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("ed25519");
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}
