/** The keys that are derived from signing keys. */
import { describe, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { deriveDigestKey } from "../src/token-keys.ts";

describe("deriveDigestKey", () => {
  const hmac = (key: string | Uint8Array, ...parts: (string | Uint8Array)[]) =>
    createHmac("sha256", key)
      .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
      .digest();

  test("is HKDF with SHA-256, without a salt, of a text or of bytes", () => {
    const der = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "der" });
    for (const material of [SECRET_KEY, new Uint8Array(der)]) {
      // RFC 5869: extract, then one block of expand.
      const expected = hmac(hmac(Buffer.alloc(32), material), "latchkey e-mails", Uint8Array.of(1));
      expect(Buffer.from(deriveDigestKey(material, "e-mails"))).toEqual(expected);
    }
  });

  test("returns independent keys for other labels and other signing keys", () => {
    const keys = [
      deriveDigestKey(SECRET_KEY, "e-mails"),
      deriveDigestKey(SECRET_KEY, "networks"),
      deriveDigestKey(`${SECRET_KEY}x`, "e-mails"),
    ].map((key) => Buffer.from(key).toString("hex"));
    expect(new Set(keys).size).toBe(3);
    expect(keys.every((key) => key.length === 64 && key !== SECRET_KEY)).toBe(true);
  });
});
