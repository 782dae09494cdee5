/** Encrypts the secrets of second factors with AES-256-GCM, so that a copied database yields no code. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Factor } from "@latchkey/database";

const CIPHER = "aes-256-gcm";
/** NIST SP 800-38D recommends 96 bits. Each secret has a random one; 2^32 secrets of one key would be too many. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** To whom a secret belongs. The secret of another user or factor cannot be decrypted, so ciphertexts cannot be exchanged. */
type Owner = Pick<Factor, "userId" | "id">;

export interface FactorCipher {
  /** The id of the key that encrypts. */
  readonly keyId: string;
  /** The ids of all keys. */
  readonly keyIds: readonly string[];
  encrypt(secret: Uint8Array, owner: Owner): Pick<Factor, "secret" | "keyId">;
  /** @throws {Error} if no key has the id, or the ciphertext was changed or belongs to another owner */
  decrypt(factor: Owner & Pick<Factor, "secret" | "keyId">): Buffer;
}

/** The id reveals nothing of the key. */
const keyIdOf = (key: Buffer): string =>
  createHash("sha256").update("latchkey factor key ").update(key).digest("base64url").slice(0, 16);

const additionalDataOf = ({ userId, id }: Owner): Buffer => Buffer.from(`${userId} ${id}`);

/** @param keys 32 bytes each, in base64url. The first one encrypts, and all decrypt */
export function createFactorCipher([current, ...previous]: readonly [string, ...string[]]): FactorCipher {
  const keys = new Map<string, Buffer>();
  for (const text of [current, ...previous]) {
    const key = Buffer.from(text, "base64url");
    keys.set(keyIdOf(key), key);
  }
  const currentKey = Buffer.from(current, "base64url");
  const keyId = keyIdOf(currentKey);
  return {
    keyId,
    keyIds: [...keys.keys()],
    encrypt(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, currentKey, nonce).setAAD(additionalDataOf(owner));
      const parts = [nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()];
      return { secret: Buffer.concat(parts).toString("base64url"), keyId };
    },
    decrypt({ userId, id, secret, keyId }) {
      const key = keys.get(keyId);
      if (!key) throw new Error(`No configured key has the id ${keyId}`);
      const bytes = Buffer.from(secret, "base64url");
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(additionalDataOf({ userId, id })).setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
