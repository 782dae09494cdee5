/** A hasher for tests that are not about hashing: the real queue and workers with one iteration. */
import { randomBytes } from "node:crypto";
import type { CallOptions, Hasher } from "@latchkey/hashing";

const STORED_FORM = /^[0-9a-f]{32}\$[0-9a-f]{64}$/;

export function cheapHasher(hasher: Hasher): Hasher {
  const hashWith = async (salt: string, password: string, { signal }: CallOptions = {}) => {
    const bytes = { password: Buffer.from(password), salt: Buffer.from(salt) };
    const digest = await hasher.derive({ ...bytes, iterations: 1, signal });
    return `${salt}$${Buffer.from(digest).toString("hex")}`;
  };
  return {
    ...hasher,
    hash: (password, { salt = randomBytes(16).toString("hex"), ...options } = {}) =>
      hashWith(salt, password, options),
    // Like the real hasher, an invalid stored hash runs a derivation and fails.
    verify: async (password, stored, options) =>
      (await hashWith(stored.slice(0, 32), password, options)) === stored && STORED_FORM.test(stored),
  };
}
