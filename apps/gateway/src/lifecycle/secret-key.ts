/** Generates keys and stores them next to the embedded database, with mode 0600. An existing key is never replaced. */
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError, EXIT } from "@latchkey/cli";
import { type SecretAlgorithm, weaknessOf } from "@latchkey/config";
import type { Logger } from "../observability/logger.ts";

const SECRET_KEY_BYTES = 64;

interface SecretKeyOptions {
  /** The folder of the database. The folder must exist. */
  readonly folder: string;
  readonly algorithm: SecretAlgorithm;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Reads the key from the folder, or generates the key. Warns if the key is weak, or if other users have access to the file.
 * @throws {CliError} if the file cannot be used or is empty
 */
export function openSecretKey({ folder, algorithm, logger }: SecretKeyOptions): string {
  const warnOfWeakness = (key: string, path: string): void => {
    const weakness = weaknessOf(key, algorithm);
    if (weakness)
      logger.warn(
        `the signing key in ${path} ${weakness}; delete the file to generate a new key, which invalidates all tokens`,
      );
  };
  const name = "auth-secret-key";
  return openStoredKey({ folder, logger, name, bytes: SECRET_KEY_BYTES, check: warnOfWeakness });
}

interface StoredKeyOptions extends Pick<SecretKeyOptions, "folder" | "logger"> {
  /** The name of the file. The variable has the same name in capital letters. */
  readonly name: "auth-secret-key" | "auth-factor-key";
  /** The length of a new key, which is stored in base64url. */
  readonly bytes: number;
  readonly check?: (key: string, path: string) => void;
}

/** @throws {CliError} if the file cannot be used or is empty */
export function openStoredKey({ folder, logger, name, bytes, check }: StoredKeyOptions): string {
  const path = join(folder, name);
  const unusable = (reason: string): CliError => {
    const variable = name.toUpperCase().replaceAll("-", "_");
    return new CliError(
      `${variable}: is not set, and no key can be stored in ${path} (${reason})`,
      EXIT.config,
    );
  };
  try {
    if (!existsSync(path)) create(folder, path, bytes);
    // Removes a line ending that an editor can have added.
    const key = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    if (key === "") throw unusable("it is empty");
    check?.(key, path);
    const mode = statSync(path).mode & 0o777;
    // The permission bits of the group and of all other users.
    if (mode & 0o077)
      logger.warn(`other users have access to ${path} (mode ${mode.toString(8)}); run chmod 600`);
    return key;
  } catch (error) {
    // Errors of the file system have a code; any other error is unexpected.
    if (error instanceof CliError || !(error instanceof Error && "code" in error)) throw error;
    throw unusable(String(error.code));
  }
}

/**
 * Writes a draft, then creates `path` as a hard link to the draft. The key file is never partial and never overwritten.
 * Processes that start at the same time all read the same key.
 */
function create(folder: string, path: string, bytes: number): void {
  const draft = join(folder, `.secret-key-${crypto.randomUUID()}`);
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");
  try {
    writeFileSync(draft, key, { mode: 0o600, flag: "wx" });
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
