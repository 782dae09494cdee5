/** Reads keys of ES256 and EdDSA from PEM. No message contains the value: it can be a secret key in the wrong variable. */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { InvalidValue, type Kind } from "./variable-kinds.ts";

export type PublicKey = ReturnType<typeof describeKey>;
export type KeyPairAlgorithm = PublicKey["algorithm"];
export type PrivateKey = PublicKey & {
  /** PKCS#8. */
  readonly pem: string;
};

/**
 * One PEM block (RFC 7468). Only white space can surround the block. `parsePem` first converts each escaped `\n` to a line
 * break, because some tools do not allow line breaks in environment variables.
 */
const PEM = /^\s*-----BEGIN ([A-Z0-9 ]+)-----(.+)-----END \1-----\s*$/s;

export const publicKey: Kind<PublicKey> = {
  accepted: "a P-256 or Ed25519 public key as PEM (SPKI)",
  parse: (text) => describeKey(parsePem(text, "PUBLIC KEY", createPublicKey)),
};

export const privateKey: Kind<PrivateKey> = {
  accepted: "a P-256 or Ed25519 private key as PEM (PKCS#8, not encrypted)",
  parse: (text) => {
    const key = parsePem(text, "PRIVATE KEY", createPrivateKey);
    return { ...describeKey(key), pem: key.export({ type: "pkcs8", format: "pem" }).toString() };
  },
};

function parsePem(text: string, label: string, parse: (pem: string) => KeyObject): KeyObject {
  if (text === "") throw new InvalidValue();
  const pem = text.replaceAll("\\n", "\n");
  if (pem.split("-----BEGIN ").length > 2) throw new InvalidValue("contains several PEM blocks");
  const [block, found, content = ""] = PEM.exec(pem) ?? [];
  if (block === undefined) throw new InvalidValue("is not a PEM block");
  if (found !== label) throw new InvalidValue(describeLabel(found, content));
  try {
    return parse(pem);
  } catch {
    // OpenSSL's message describes internal structures of OpenSSL.
    throw new InvalidValue("is not a valid key");
  }
}

function describeLabel(label = "", content: string): string {
  if (label === "PUBLIC KEY") return "is a public key";
  if (label === "ENCRYPTED PRIVATE KEY" || content.includes("ENCRYPTED")) return "is encrypted";
  if (label === "PRIVATE KEY") return "is a private key";
  if (label === "EC PRIVATE KEY") return "is not PKCS#8: convert it with openssl pkcs8 -topk8 -nocrypt";
  return "is another kind of PEM block";
}

/**
 * The key, and the only algorithm for which it is valid. `jwk` has the required members in alphabetical order (RFC 7638 §3.2).
 * The JSON texts of equal keys are therefore equal.
 */
function describeKey(key: KeyObject) {
  const type = key.asymmetricKeyType ?? "unknown";
  // Some other types of keys, such as DSA, cannot be exported as JWK.
  if (type !== "ec" && type !== "ed25519") throw new InvalidValue(`is a key of type ${type.toUpperCase()}`);
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const { crv, x = "", y = "" } = publicKey.export({ format: "jwk" });
  if (crv === "Ed25519") return { algorithm: "EdDSA", jwk: { crv, kty: "OKP", x } } as const;
  if (crv === "P-256") return { algorithm: "ES256", jwk: { crv, kty: "EC", x, y } } as const;
  throw new InvalidValue(`is a key of type ${crv}`);
}
