import { createHmac, hkdfSync } from "node:crypto";

/** A secret key as text, or the bytes of a private key (PKCS#8, DER). */
export type KeyMaterial = string | Uint8Array;

/** Returns HMAC-SHA-256 with a key derived from `material` (HKDF, RFC 5869), so that the service needs no further secret. */
export function deriveMac(material: KeyMaterial, label: string): (text: string) => Buffer {
  const key = new Uint8Array(hkdfSync("sha256", material, "", `latchkey ${label}`, 32));
  return (text) => createHmac("sha256", key).update(text).digest();
}
