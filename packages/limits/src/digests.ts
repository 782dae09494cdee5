/** Keys derived from the signing key, and the digests of personal data that programs of the service compute with them. */
import { createHmac, createPrivateKey, hkdfSync } from "node:crypto";
import { toAsciiEmail } from "@latchkey/contracts";

/** A secret key as text, or the bytes of a private key (PKCS#8, DER). */
export type KeyMaterial = string | Uint8Array;

export type Mac = (text: string) => Buffer;

export const toKeyMaterial = (pem: string): KeyMaterial =>
  createPrivateKey(pem).export({ type: "pkcs8", format: "der" });

/** Returns HMAC-SHA-256 with a key derived from `material` (HKDF, RFC 5869), so that the service needs no further secret. */
export function deriveMac(material: KeyMaterial, label: string): Mac {
  const key = new Uint8Array(hkdfSync("sha256", material, "", `latchkey ${label}`, 32));
  return (text) => createHmac("sha256", key).update(text).digest();
}

const DIGEST_HEX_CHARACTERS = 32;

/** Keyed digests of personal data. The keys are derived from the signing key, so all replicas compute the same digests. */
export interface Digests {
  /** All forms of an internationalized domain have one digest. */
  email(email: string): string;
  /** A network's digest differs between users, so digests do not reveal who shares a network. */
  network(email: string, network: string): string;
}

export function createDigests(material: KeyMaterial): Digests {
  const digestFor = (label: string) => {
    const mac = deriveMac(material, label);
    return (text: string): string => mac(text).toString("hex").slice(0, DIGEST_HEX_CHARACTERS);
  };
  const [digestEmail, digestNetwork] = [digestFor("e-mails"), digestFor("networks")];
  return {
    email: (email) => digestEmail(toAsciiEmail(email)),
    // No e-mail contains U+0000.
    network: (email, network) => digestNetwork(`${toAsciiEmail(email)}\0${network}`),
  };
}
