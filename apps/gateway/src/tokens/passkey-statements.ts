/** Signed statements with the challenges for passkeys. A statement is valid for five minutes. */
import { createHash, randomBytes } from "node:crypto";
import type { KeyMaterial } from "@latchkey/contracts";
import { createStatements } from "./signed-statements.ts";

type Purpose = "passkey-creation" | "passkey-login";
/** The values on which the statement of a creation depends. The statement of a login depends on no values. */
type Binding =
  | readonly [userId: number, tokenVersion: number, revision: number, saltDigest: string]
  | readonly [];

export const STATEMENT_LIFETIME_MS = 5 * 60 * 1000;

export function createPasskeyStatements(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<readonly [Purpose, challenge: string, expiresAt: number, Binding]>(
    materials,
    "passkeys",
  );
  return {
    sign(purpose: Purpose, binding: Binding = []) {
      const challenge = randomBytes(32).toString("base64url");
      const expiresAt = Date.now() + STATEMENT_LIFETIME_MS;
      return { challenge, state: statements.sign([purpose, challenge, expiresAt, binding]) };
    },
    /** Returns null if the statement is not valid for this purpose and binding. */
    verify(state: string, purpose: Purpose, expected: Binding = []) {
      const statement = statements.verify(state, purpose);
      if (!statement || String(statement[3]) !== String(expected)) return null;
      const [, challenge, expiresAt] = statement;
      return { challenge, expiresAt, digest: createHash("sha256").update(challenge).digest("base64url") };
    },
  };
}
