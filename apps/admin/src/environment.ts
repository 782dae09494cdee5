/** Reads variables by the service's definitions. Secret values are never printed. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CliError, EXIT } from "@latchkey/cli";
import * as config from "@latchkey/config";
import { kernels } from "@latchkey/hashing";

export type Variables = config.Variables;

/** The root of the repository. Relative `file:` URLs are resolved against this path, regardless of the working directory. */
export const ROOT = resolve(import.meta.dir, "../../..");

/** @throws {CliError} with exit code 78; the message contains all errors, one per line */
export function readVariables<Name extends config.VariableName>(
  names: readonly Name[],
  variables: Variables,
  checks: config.ParseOptions["checks"] = {},
) {
  const readFile = (path: string, encoding: "utf8" | "latin1" = "utf8") => readFileSync(path, encoding);
  try {
    const values = config.parseVariables(names, variables, {
      readFile,
      checks: { ...checks, HASH_KERNEL: config.validateKernel(kernels().map(({ name }) => name)) },
    });
    for (const hint of config.describeDotenvValues(names, variables, readFile))
      process.stderr.write(`${hint}\n`);
    return values;
  } catch (error) {
    if (error instanceof config.ConfigurationError) throw new CliError(error.message, EXIT.config);
    throw error;
  }
}
