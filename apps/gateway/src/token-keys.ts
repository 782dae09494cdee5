/** The keys that sign and verify tokens, and the keys that are derived from them. */
import { hkdfSync } from "node:crypto";

const DERIVED_KEY_BYTES = 32;

/**
 * Derives a key for digests (HKDF with SHA-256, RFC 5869), so that the service needs no further secret.
 * @param material the secret key as text, or the bytes of the private key (PKCS#8, DER)
 * @param label what the key is for; keys with different labels are independent
 */
export const deriveDigestKey = (material: string | Uint8Array, label: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", material, "", `latchkey ${label}`, DERIVED_KEY_BYTES));
