/** Statements that only this service can make, of which nothing is stored: a JSON array and its MAC. */
import { timingSafeEqual } from "node:crypto";
import { deriveMac, type KeyMaterial } from "./derived-mac.ts";

export type Mac = ReturnType<typeof deriveMac>;

/** A statement is valid for its purpose and until it expires, in milliseconds since the epoch. */
type Payload = readonly [purpose: string, subject: unknown, expiresAt: number, ...unknown[]];

/** base64url of a JSON array, which can contain an e-mail of 254 escaped characters, and of 32 bytes. */
const STATEMENT = /^([\w-]{1,2500})\.([\w-]{43})$/;

/**
 * @param materials the first one signs, all verify. A public key as one of them would let everybody sign.
 * @param label of the derived keys: statements of another label are not valid
 */
export function createStatements<Statement extends Payload>(
  materials: readonly [KeyMaterial, ...KeyMaterial[]],
  label: string,
) {
  const signing = deriveMac(materials[0], label);
  const verification = materials.map((material) => deriveMac(material, label));
  return {
    signing,
    verification,
    sign(payload: Statement): string {
      const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
      return `${text}.${signing(text).toString("base64url")}`;
    },
    /** Returns null if the statement is malformed, forged, expired or for another purpose. */
    verify(statement: string, expected: Statement[0]): Statement | null {
      const [, text = "", signature = ""] = STATEMENT.exec(statement) ?? [];
      // Compared as text, which has one form only; the length is that of the pattern.
      const matches = (mac: Mac): boolean => timingSafeEqual(encode(mac(text)), Buffer.from(signature));
      if (signature === "" || !verification.some(matches)) return null;
      const payload: Statement = JSON.parse(Buffer.from(text, "base64url").toString());
      const [purpose, , expiresAt] = payload;
      return purpose === expected && expiresAt > Date.now() ? payload : null;
    },
  };
}

const encode = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("base64url"));
