/**
 * One-time tokens in the links of mails: signed statements, so that nothing is stored. A token is valid for one purpose, one
 * user and until its expiry. That of a reset names the state that a reset changes, so it works once.
 */
import { timingSafeEqual } from "node:crypto";
import type { LinkKind } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { saltOf } from "@latchkey/hashing";
import { deriveMac, type KeyMaterial } from "./derived-mac.ts";

export type Purpose = LinkKind;
/** What a token depends on. */
export type TokenUser = Pick<User, "id" | "hashedPassword" | "tokenVersion">;

export type OneTimeTokens = ReturnType<typeof createOneTimeTokens>;

/** base64url of a JSON array, and of 32 bytes. */
const TOKEN = /^([\w-]{1,200})\.([\w-]{43})$/;

/** @param materials the first one signs, all verify. A public key as one of them would let everybody sign. */
export function createOneTimeTokens(materials: readonly [KeyMaterial, ...KeyMaterial[]]) {
  const createMac = (material: KeyMaterial) => deriveMac(material, "one-time tokens");
  const signing = createMac(materials[0]);
  const verification = materials.map(createMac);
  /** Signed texts are base64url, so a state, which has a space, is never one. */
  const stateOf = (mac: typeof signing, purpose: Purpose, user: TokenUser): string =>
    purpose === "reset"
      ? mac(`state ${saltOf(user.hashedPassword)} ${user.tokenVersion}`)
          .toString("base64url")
          .slice(0, 32)
      : "";

  return {
    /** @param expiresAt in milliseconds since the epoch */
    sign(purpose: Purpose, expiresAt: number, user: TokenUser): string {
      const payload = JSON.stringify([purpose, user.id, expiresAt, stateOf(signing, purpose, user)]);
      const text = Buffer.from(payload).toString("base64url");
      return `${text}.${signing(text).toString("base64url")}`;
    },
    /** Returns null if the token is malformed, forged, expired or for another purpose. */
    verify(token: string, expected: Purpose) {
      const [, text = "", signature = ""] = TOKEN.exec(token) ?? [];
      const given = Buffer.from(signature, "base64url");
      // A signature that matches the pattern has the length of a digest.
      const mac = verification.find((mac) => given.length > 0 && timingSafeEqual(mac(text), given));
      if (!mac) return null;
      const [purpose, userId, expiresAt, state] = parsePayload(text);
      if (purpose !== expected || expiresAt <= Date.now()) return null;
      return {
        userId,
        /** Whether neither the password nor the token version has changed since the token was signed. */
        isCurrent: (user: TokenUser): boolean => stateOf(mac, purpose, user) === state,
      };
    },
  };
}

/** The cast is safe because this service has signed the payload. */
const parsePayload = (text: string): readonly [Purpose, userId: number, expiresAt: number, state: string] =>
  JSON.parse(Buffer.from(text, "base64url").toString());
