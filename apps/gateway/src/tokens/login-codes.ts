/**
 * Codes that log in, and the signed states to which they belong. Neither is stored: a code is a truncated MAC of the state and of the
 * user's values that end it. The service compares a code only after it has counted the attempt.
 */
import { randomBytes } from "node:crypto";
import { MAILS } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { Mac } from "@latchkey/limits";
import { isOneOf, truncatedCode } from "./codes.ts";
import { createSigner, type KeyMaterials } from "./signed-payloads.ts";

type CodeUser = Pick<User, "id" | "hashedPassword" | "tokenVersion" | "loginCodeRevision">;
type Payload = readonly ["login-code", nonce: string, expiresAt: number, email: string];

const DIGITS = 8;
/** The code for an unknown e-mail. It is computed for equal timing, and never accepted. */
const NOBODY: CodeUser = { id: 0, hashedPassword: "", tokenVersion: 0, loginCodeRevision: 0 };

export interface LoginCodes {
  /** Returns a state for the e-mail. `nonce` identifies the state in the outbox. */
  begin(email: string): { readonly nonce: string; readonly state: string };
  /** Returns null if the state is malformed, forged or expired. */
  verifyState(state: string): { readonly nonce: string; readonly email: string } | null;
  codeOf(nonce: string, user: CodeUser): string;
  /** @param user null: no user has the e-mail. The result is false after the same work. */
  isCode(code: string, nonce: string, user: CodeUser | null): boolean;
}

export function createLoginCodes(materials: KeyMaterials): LoginCodes {
  const signer = createSigner<Payload>(materials, "login codes");
  /** The MAC of a state is computed from base64url. The spaces in this input ensure that no code is the MAC of a state. */
  const codeOf = (mac: Mac, nonce: string, user: CodeUser): string => {
    const { id, hashedPassword, tokenVersion, loginCodeRevision } = user;
    const text = `code ${nonce} ${id} ${saltOf(hashedPassword)} ${tokenVersion} ${loginCodeRevision}`;
    return truncatedCode(mac(text), DIGITS);
  };

  return {
    begin(email) {
      const nonce = randomBytes(16).toString("base64url");
      const expiresAt = Date.now() + MAILS["login-code"].lifetimeMs;
      return { nonce, state: signer.sign(["login-code", nonce, expiresAt, email]) };
    },
    verifyState(state) {
      const [, nonce, , email] = signer.verify(state, "login-code") ?? [];
      return nonce === undefined || email === undefined ? null : { nonce, email };
    },
    codeOf: (nonce, user) => codeOf(signer.signing, nonce, user),
    isCode(code, nonce, user) {
      const codes = signer.verification.map((mac) => codeOf(mac, nonce, user ?? NOBODY));
      return isOneOf(code, codes) && user !== null;
    },
  };
}
