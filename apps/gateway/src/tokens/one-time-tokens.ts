/**
 * One-time tokens in the links of mails: signed statements, so that nothing is stored. A token is valid for one purpose, one
 * user and until its expiry. That of a reset names the state that a reset changes, so it works once.
 */
import type { LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import type { KeyMaterial } from "./derived-mac.ts";
import { createStatements, type Mac } from "./signed-statements.ts";

export type Purpose = LinkKind;
/** What a token depends on. */
export type TokenUser = Pick<User, "id" | "hashedPassword" | "tokenVersion">;

export type OneTimeTokens = ReturnType<typeof createOneTimeTokens>;

/** @param materials as of `createStatements` */
export function createOneTimeTokens(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const statements = createStatements(materials, "one-time tokens");
  /** Signed texts are base64url, so a state, which has a space, is never one. */
  const stateOf = (mac: Mac, purpose: Purpose, user: TokenUser): string =>
    purpose === "reset"
      ? mac(`state ${saltOf(user.hashedPassword)} ${user.tokenVersion}`)
          .toString("base64url")
          .slice(0, 32)
      : "";

  return {
    /** @param expiresAt in milliseconds since the epoch */
    sign(purpose: Purpose, expiresAt: number, user: TokenUser): string {
      return statements.sign([purpose, user.id, expiresAt, stateOf(statements.signing, purpose, user)]);
    },
    /** Returns null if the token is malformed, forged, expired or for another purpose. */
    verify(token: string, expected: Purpose) {
      const verified = statements.verify(token);
      if (!verified) return null;
      const [purpose, userId, expiresAt, state] = toPayload(verified.payload);
      if (purpose !== expected || expiresAt <= Date.now()) return null;
      return {
        userId,
        /** Whether neither the password nor the token version has changed since the token was signed. */
        isCurrent: (user: TokenUser): boolean => stateOf(verified.mac, purpose, user) === state,
      };
    },
  };
}

/** The cast is safe because this service has signed the payload. */
const toPayload = (payload: unknown) =>
  payload as readonly [Purpose, userId: number, expiresAt: number, state: string];
