/**
 * Verifies the password of a user, and replaces an imported hash by a hash of this service. The replacement is derived even if
 * the password is wrong: a response for an imported user must not be faster than a response for an unknown e-mail.
 */
import { PASSWORD_MAX_LENGTH } from "@latchkey/contracts";
import { type AuthenticatedUser, type UserRepository, validImportedHash } from "@latchkey/database";
import { type Hasher, hashFormat, saltOf } from "@latchkey/hashing";
import type { RequestContext } from "../../request-context.ts";

/** An invalid stored hash. A verification against an invalid hash runs a full derivation and fails. */
const NO_HASH = "";

/**
 * In UTF-16 code units: a password of the maximum length has at most twice as many, and decomposed at most four times those. The
 * time of a normalization grows with the square of the length, and the event loop waits for it.
 */
const MAX_COMPOSED_LENGTH = 8 * PASSWORD_MAX_LENGTH;

/** @param mismatched called before the second verification */
export type VerifyPassword = (
  user: AuthenticatedUser | null,
  password: string,
  request: RequestContext,
  mismatched?: () => void,
) => Promise<boolean>;

/**
 * Returns a function that verifies a password. If `user` is null, the function returns false after a full derivation. A system
 * can send the same characters decomposed: a password that does not match as sent is verified once more in NFC (RFC 8265 §4.2.2).
 */
export function createPasswordVerifier(
  hasher: Pick<Hasher, "hash" | "verify" | "verifyImported">,
  users: Pick<UserRepository, "rehash">,
): VerifyPassword {
  const verify = async (
    user: AuthenticatedUser | null,
    password: string,
    { rehashed }: Pick<RequestContext, "rehashed">,
    signal?: AbortSignal,
  ) => {
    const imported = user && validImportedHash(user);
    if (!imported) return hasher.verify(password, user?.hashedPassword ?? NO_HASH, { signal });
    // `verifyImported` is called before `hash`: if too many verifications wait, `verifyImported` throws, and nothing is derived.
    const verification = hasher.verifyImported(password, imported, { signal });
    const replacement = hasher.hash(password, { signal, salt: saltOf(user.hashedPassword) });
    await Promise.allSettled([replacement, verification]);
    // Errors such as a full queue are thrown even if the password is wrong: errors must not reveal whether the user exists.
    const [hashedPassword, matches] = [await replacement, await verification];
    // `rehash` returns false if another login has already replaced the imported hash.
    if (matches && (await users.rehash(user, hashedPassword))) rehashed(hashFormat(imported), user);
    return matches;
  };
  return async (user, password, request, mismatched) => {
    if (await verify(user, password, request, request.signal)) return true;
    mismatched?.();
    const composed = password.length > MAX_COMPOSED_LENGTH ? password : password.normalize("NFC");
    // Without the signal: the client can know already that the password as sent is wrong. If it leaves now, the value must count.
    return composed !== password && verify(user, composed, request);
  };
}
