/**
 * Verifies the password of a user, and replaces an imported hash by one of the same password. A failed verification derives
 * the replacement too: it must take at least as long as that of an unknown e-mail.
 */
import type { HashCondition, User, UserRepository } from "@latchkey/database";
import { type Hasher, hashFormat, saltOf, validImportedHash } from "@latchkey/hashing";
import type { AuthRequest } from "../../observability/audit.ts";

/** Not a valid stored hash: verifying against it runs a full derivation and fails. */
const NO_HASH = "";

/** Returns the function that verifies a password; without a user, it fails after a full derivation. */
export const createPasswordVerifier =
  (hasher: Pick<Hasher, "hash" | "verify" | "verifyImported">, users: Pick<UserRepository, "rehash">) =>
  async (user: User | null, password: string, { signal, rehashed }: AuthRequest): Promise<boolean> => {
    const imported = user && validImportedHash(user);
    if (!imported) return hasher.verify(password, user?.hashedPassword ?? NO_HASH, { signal });
    // Starts first, because it throws if too many verifications wait: then nothing is derived.
    const verification = hasher.verifyImported(password, imported, { signal });
    const replacement = hasher.hash(password, { signal, salt: saltOf(user.hashedPassword) });
    await Promise.allSettled([replacement, verification]);
    // A derivation that fails, as with a full queue, must not depend on whether the user exists.
    const [hashedPassword, matches] = [await replacement, await verification];
    // Another login can have replaced it.
    if (matches && (await users.rehash(user, hashedPassword))) rehashed(hashFormat(imported), user);
    return matches;
  };

/** The condition that the user still has this password: a replaced imported hash is the same password. */
export const hashOf = (user: User): HashCondition => ({
  hashedPassword: user.hashedPassword,
  importedVersion: validImportedHash(user) === null ? undefined : user.tokenVersion,
});
