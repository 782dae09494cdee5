/**
 * Codes that log in, and the signed states to which they belong. Neither is stored: a code is a truncated MAC of the state and of the
 * user's values that end it. The service compares a code only after it has counted the attempt.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { type KeyMaterial, MAILS } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import { createStatements, type Mac } from "./signed-statements.ts";

type CodeUser = Pick<User, "id" | "hashedPassword" | "tokenVersion" | "loginCodeRevision">;
type Payload = readonly ["login-code", nonce: string, expiresAt: number, email: string];

const DIGITS = 8;
/** The code for an unknown e-mail. It is computed for equal timing, and never accepted. */
const NOBODY: CodeUser = { id: 0, hashedPassword: "", tokenVersion: 0, loginCodeRevision: 0 };

/** @param materials see `createStatements` */
export function createLoginCodes(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements<Payload>(materials, "login codes");
  /** A statement's MAC is computed from base64url. The spaces in this input ensure that no code is the MAC of a statement. */
  const codeOf = (mac: Mac, nonce: string, user: CodeUser): string => {
    const { id, hashedPassword, tokenVersion, loginCodeRevision } = user;
    const text = `code ${nonce} ${id} ${saltOf(hashedPassword)} ${tokenVersion} ${loginCodeRevision}`;
    return String(mac(text).readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, "0");
  };

  return {
    /** `nonce` identifies the state in the outbox. */
    begin(email: string) {
      const nonce = randomBytes(16).toString("base64url");
      const expiresAt = Date.now() + MAILS["login-code"].lifetimeMs;
      return { nonce, state: statements.sign(["login-code", nonce, expiresAt, email]) };
    },
    /** Returns null if the state is malformed, forged or expired. */
    verifyState(state: string) {
      const [, nonce, , email] = statements.verify(state, "login-code") ?? [];
      return nonce === undefined || email === undefined ? null : { nonce, email };
    },
    codeOf: (nonce: string, user: CodeUser): string => codeOf(statements.signing, nonce, user),
    /** @param user null: no user has the e-mail. The result is false after the same work. */
    isCode(code: string, nonce: string, user: CodeUser | null): boolean {
      const given = Buffer.from(code);
      const expected = statements.verification.map((mac) => Buffer.from(codeOf(mac, nonce, user ?? NOBODY)));
      const matches = expected.filter((one) => one.length === given.length && timingSafeEqual(one, given));
      return matches.length > 0 && user !== null;
    },
  };
}
