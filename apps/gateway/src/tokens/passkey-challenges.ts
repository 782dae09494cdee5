/** Signed challenges for passkeys: the `state` of the API. A challenge is valid for five minutes. */
import { createHash, randomBytes } from "node:crypto";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

type Purpose = "passkey-creation" | "passkey-login";
/** The values on which the challenge of a creation depends. The challenge of a login depends on no values. */
type Binding =
  | readonly [userId: number, tokenVersion: number, revision: number, saltDigest: string]
  | readonly [];

export const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000;

/** A verified challenge. The database stores the digest of a challenge that was used. */
interface PasskeyChallenge {
  readonly challenge: string;
  readonly challengeDigest: string;
  readonly expiresAt: number;
}

export interface PasskeyChallenges {
  sign(purpose: Purpose, binding?: Binding): { readonly challenge: string; readonly state: string };
  /** Returns null if the state is not valid for this purpose and binding. */
  verify(state: string, purpose: Purpose, expected?: Binding): PasskeyChallenge | null;
}

export function createPasskeyChallenges(materials: KeyMaterials): PasskeyChallenges {
  const signer = createSigner<readonly [Purpose, challenge: string, expiresAt: number, Binding]>(
    materials,
    "passkeys",
  );
  return {
    sign(purpose, binding = []) {
      const challenge = randomBytes(32).toString("base64url");
      const expiresAt = Date.now() + CHALLENGE_LIFETIME_MS;
      return { challenge, state: signer.sign([purpose, challenge, expiresAt, binding]) };
    },
    verify(state, purpose, expected = []) {
      const payload = signer.verify(state, purpose);
      if (!payload || String(payload[3]) !== String(expected)) return null;
      const [, challenge, expiresAt] = payload;
      const challengeDigest = createHash("sha256").update(challenge).digest("base64url");
      return { challenge, challengeDigest, expiresAt };
    },
  };
}
