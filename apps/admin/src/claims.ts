/** Reads the application's claims of a user, from a file or a line of an import. Messages contain names of claims, but no values. */
import { readFile } from "node:fs/promises";
import { CliError, EXIT, printable, unavailable } from "@latchkey/cli";
import {
  Claims,
  countNames,
  describeTooLarge,
  describeViolation,
  withoutRepetitions,
} from "@latchkey/contracts";
import { Compile } from "typebox/schema";

const compiled = Compile(Claims);

const reject = (message: string): never => {
  throw new CliError(message, EXIT.dataError);
};

/**
 * Checks claims as the service does.
 * @param json the text of the claims and `otherNames` names: a repeated name would silently end the earlier one
 * @throws {CliError} with exit code 65
 */
export function parseClaims(claims: unknown, json: string, otherNames = 0): Claims {
  if (!compiled.Check(claims)) {
    const [error] = withoutRepetitions(compiled.Errors(claims)[1]);
    const name = error?.instancePath.slice(1).replaceAll("~1", "/").replaceAll("~0", "~");
    return reject(
      error && name ? `The claim ${name} ${describeViolation(error).msg}.` : "The claims must be an object.",
    );
  }
  if (countNames(json) > Object.keys(claims).length + otherNames)
    return reject("The claims must not have a name twice.");
  const tooLarge = describeTooLarge(claims);
  return tooLarge ? reject(`The claims ${tooLarge.msg}.`) : claims;
}

/**
 * @param path a file of JSON; `-` reads standard input
 * @throws {CliError} with exit code 69 if the file cannot be read, or 65 if it has no valid claims
 */
export async function readClaims(path: string): Promise<Claims> {
  const bytes =
    path === "-"
      ? Buffer.concat(await Array.fromAsync(process.stdin))
      : await readFile(path).catch(failReading(path));
  try {
    const json = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return parseClaims(JSON.parse(json), json);
  } catch (error) {
    if (error instanceof CliError) throw error;
    return reject("The file is not valid JSON in UTF-8.");
  }
}

const failReading = (path: string) => (error: NodeJS.ErrnoException) => {
  throw unavailable(`Cannot read ${printable(path)} (${error.code}).`);
};
