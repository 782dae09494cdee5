/** The challenges of passkeys as signed statements, which are valid for one purpose and five minutes. */
import { createHash, randomBytes } from "node:crypto";
import type { KeyMaterial } from "./derived-mac.ts";
import { createStatements } from "./signed-statements.ts";

export type PasskeyPurpose = "passkey-creation" | "passkey-login";
/** What the statement of a creation depends on: of a login, nothing. */
export type PasskeyBinding = readonly [userId: number, tokenVersion: number, revision: number] | readonly [];

export type PasskeyStatements = ReturnType<typeof createPasskeyStatements>;

export const STATEMENT_LIFETIME_MS = 5 * 60 * 1000;

export function createPasskeyStatements(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements(materials, "passkeys");
  return {
    sign(purpose: PasskeyPurpose, binding: PasskeyBinding = []) {
      const challenge = randomBytes(32).toString("base64url");
      const expiresAt = Date.now() + STATEMENT_LIFETIME_MS;
      return { challenge, state: statements.sign([purpose, challenge, expiresAt, binding]) };
    },
    /** Returns null if the statement is malformed, forged, expired, or for another purpose or binding. */
    verify(state: string, expected: PasskeyPurpose, expectedBinding: PasskeyBinding = []) {
      const verified = statements.verify(state);
      if (!verified) return null;
      const [purpose, challenge, expiresAt, binding] = toPayload(verified.payload);
      const isExpected = purpose === expected && String(binding) === String(expectedBinding);
      if (!isExpected || expiresAt <= Date.now()) return null;
      return { challenge, expiresAt, digest: createHash("sha256").update(challenge).digest("base64url") };
    },
  };
}

/** The cast is safe because this service has signed the payload. */
const toPayload = (payload: unknown) =>
  payload as readonly [PasskeyPurpose, challenge: string, expiresAt: number, PasskeyBinding];
