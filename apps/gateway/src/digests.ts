/**
 * Keyed digests of personal data, for the rate-limit store, the database and the log. They are the same in all replicas, and
 * change with the signing key.
 */
import { createHmac } from "node:crypto";
import type { TokenKeys } from "./token-keys.ts";

export interface Digests {
  email(email: string): string;
  /** Differs for each user, so that the stored digests do not reveal who shares a network. */
  network(email: string, network: string): string;
}

const DIGEST_HEX_CHARACTERS = 32;

export function createDigests({ deriveDigestKey }: Pick<TokenKeys, "deriveDigestKey">): Digests {
  const emailKey = deriveDigestKey("e-mails");
  const networkKey = deriveDigestKey("networks");
  const digest = (key: Uint8Array, text: string): string =>
    createHmac("sha256", key).update(text).digest("hex").slice(0, DIGEST_HEX_CHARACTERS);
  return {
    email: (email) => digest(emailKey, email),
    // An e-mail contains no U+0000.
    network: (email, network) => digest(networkKey, `${email}\0${network}`),
  };
}
