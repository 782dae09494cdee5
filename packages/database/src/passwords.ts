/**
 * Passwords of users, whose hash can still be that of another system. The column of that hash also marks users without a password.
 * Either is valid only if it belongs to the stored hash, so a release that replaces only the stored hash ends it.
 */
import { bindImportedHash, boundImportedHash } from "@latchkey/hashing/stored-hash";
import type { User } from "./tables.ts";

export type Password = Pick<User, "hashedPassword" | "importedHash">;

/** In place of an imported hash: the user has no password. */
export const NO_PASSWORD = "none";

/** Returns the values of a user without a password. */
export const noPassword = () => ({
  hashedPassword: bindImportedHash(NO_PASSWORD),
  importedHash: NO_PASSWORD,
});

/** Whether a password can match. Earlier releases did not mark users without a password. */
export const hasPassword = (user: Password): boolean =>
  user.importedHash !== NO_PASSWORD || boundImportedHash(user) === null;

/** Whether a login replaces the hash of another system. */
export const hasImportedHash = ({ importedHash }: Pick<User, "importedHash">): boolean =>
  importedHash !== null && importedHash !== NO_PASSWORD;

/** Returns the hash of another system if it belongs to the stored hash, otherwise null. */
export const validImportedHash = (user: Password): string | null =>
  hasImportedHash(user) ? boundImportedHash(user) : null;
