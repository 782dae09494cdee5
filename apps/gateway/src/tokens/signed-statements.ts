/** Statements that only this service can make, so that nothing is stored: a JSON array and its MAC. */
import { timingSafeEqual } from "node:crypto";
import { deriveMac, type KeyMaterial } from "./derived-mac.ts";

export type Mac = ReturnType<typeof deriveMac>;

/** base64url of a JSON array, which can contain an e-mail of 254 escaped characters, and of 32 bytes. */
const STATEMENT = /^([\w-]{1,2500})\.([\w-]{43})$/;

/**
 * @param materials the first one signs, all verify. A public key as one of them would let everybody sign.
 * @param label of the derived keys: statements of another label are not valid
 */
export function createStatements(materials: readonly [KeyMaterial, ...KeyMaterial[]], label: string) {
  const signing = deriveMac(materials[0], label);
  const verification = materials.map((material) => deriveMac(material, label));
  return {
    signing,
    verification,
    sign(payload: readonly unknown[]): string {
      const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
      return `${text}.${signing(text).toString("base64url")}`;
    },
    /** Returns null if the statement is malformed or forged. */
    verify(statement: string): { readonly payload: unknown } | null {
      const [, text = "", signature = ""] = STATEMENT.exec(statement) ?? [];
      // Compared as text, which has one form only; the length is that of the pattern.
      const matches = (mac: Mac): boolean => timingSafeEqual(encode(mac(text)), Buffer.from(signature));
      const isSigned = signature !== "" && verification.some(matches);
      return isSigned ? { payload: JSON.parse(Buffer.from(text, "base64url").toString()) } : null;
    },
  };
}

const encode = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("base64url"));
