/** Opens the keys of second factors. Without the key of a stored factor, its user could not log in, so the service does not start. */
import { createFactorCipher, type FactorCipher } from "@latchkey/administration";
import { CliError, EXIT } from "@latchkey/cli";
import type { Database } from "@latchkey/database";
import type { Config } from "../config.ts";
import type { Logger } from "../observability/logger.ts";
import { openStoredKey } from "./secret-key.ts";

export interface FactorKeyOptions {
  /** The folder of the database. */
  readonly folder: string;
  readonly logger: Pick<Logger, "warn">;
}

const KEY_BYTES = 32;
const REMOVE_ALL = "to remove all second factors, run `bun run admin factors remove --all`";

/** @throws {CliError} if the database has second factors that cannot be used */
export async function openFactorCipher(
  { factors }: Pick<Database, "factors">,
  factorKeys: Config["factorKeys"] | null,
  { folder, logger }: FactorKeyOptions,
): Promise<FactorCipher | null> {
  const storedIds = await factors.listKeyIds();
  if (!factorKeys) {
    if (storedIds.length === 0) return null;
    throw new CliError(
      `AUTH_SECOND_FACTOR: is false, but users have second factors; ${REMOVE_ALL}`,
      EXIT.config,
    );
  }
  await factors.checkPrivileges();
  const { previousKey } = factorKeys;
  const key = factorKeys.key ?? openStoredKey({ folder, logger, name: "auth-factor-key", bytes: KEY_BYTES });
  const cipher = createFactorCipher([key, ...(previousKey === null ? [] : [previousKey])]);
  const unknown = storedIds.filter((id) => !cipher.keyIds.includes(id));
  if (unknown.length === 0) return cipher;
  throw new CliError(
    `AUTH_FACTOR_KEY: neither it nor AUTH_FACTOR_KEY_PREVIOUS is the key of all second factors; missing: ${unknown.join(", ")}; ${REMOVE_ALL}`,
    EXIT.config,
  );
}
