/** Payloads that only this service can sign: a JSON array and a MAC, as text. The service does not store them. */
import { timingSafeEqual } from "node:crypto";
import { deriveMac, type KeyMaterial, type Mac } from "@latchkey/limits";

/** The first material signs, and all materials verify. A public key here would let everybody sign. */
export type KeyMaterials = readonly [KeyMaterial, ...KeyMaterial[]];

/** A payload is valid for one purpose, until `expiresAt` in milliseconds since the epoch. */
type Payload = readonly [purpose: string, subject: unknown, expiresAt: number, ...unknown[]];

/** A JSON array and a MAC of 32 bytes, both in base64url. 2500 characters suffice for every payload. */
const SIGNED = /^([\w-]{1,2500})\.([\w-]{43})$/;

/** @param label part of the key derivation, so payloads with another label are not valid */
export function createSigner<Signed extends Payload>(materials: KeyMaterials, label: string) {
  const signing = deriveMac(materials[0], label);
  const verification = materials.map((material) => deriveMac(material, label));
  return {
    signing,
    verification,
    sign(payload: Signed): string {
      const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
      return `${text}.${signing(text).toString("base64url")}`;
    },
    /** Returns null if the text is malformed, forged, expired or for another purpose. */
    verify(signed: string, expected: Signed[0]): Signed | null {
      const [, text = "", signature = ""] = SIGNED.exec(signed) ?? [];
      // Compares text, so that only the canonical base64url is valid. `SIGNED` ensures that the lengths are equal.
      const matches = (mac: Mac): boolean => timingSafeEqual(encode(mac(text)), Buffer.from(signature));
      if (signature === "" || !verification.some(matches)) return null;
      const payload: Signed = JSON.parse(Buffer.from(text, "base64url").toString());
      const [purpose, , expiresAt] = payload;
      return purpose === expected && expiresAt > Date.now() ? payload : null;
    },
  };
}

const encode = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("base64url"));
