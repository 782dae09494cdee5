/** Statements that only this service can make: a JSON array and a MAC. The service does not store statements. */
import { timingSafeEqual } from "node:crypto";
import { deriveMac, type KeyMaterial } from "@latchkey/contracts";

export type Mac = ReturnType<typeof deriveMac>;

/** A statement is valid for one purpose, until `expiresAt` in milliseconds since the epoch. */
type Payload = readonly [purpose: string, subject: unknown, expiresAt: number, ...unknown[]];

/** A JSON array and a MAC of 32 bytes, both in base64url. 2500 characters suffice for every statement. */
const STATEMENT = /^([\w-]{1,2500})\.([\w-]{43})$/;

/**
 * @param materials the first material signs, and all materials verify. A public key here would let everybody sign.
 * @param label part of the key derivation, so statements with another label are not valid
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
      // Compares text, so that only the canonical base64url is valid. `STATEMENT` ensures that the lengths are equal.
      const matches = (mac: Mac): boolean => timingSafeEqual(encode(mac(text)), Buffer.from(signature));
      if (signature === "" || !verification.some(matches)) return null;
      const payload: Statement = JSON.parse(Buffer.from(text, "base64url").toString());
      const [purpose, , expiresAt] = payload;
      return purpose === expected && expiresAt > Date.now() ? payload : null;
    },
  };
}

const encode = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("base64url"));
