/** Parses the values of arguments. A rejected value results in a one-sentence message and exit code 64. */
import { type CliError, usageError } from "./errors.ts";

/** An option or argument: the name, such as `--limit`, and the value. */
export interface Argument {
  readonly name: string;
  readonly text: string | undefined;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** @throws {CliError} with exit code 64 */
export function requireText({ name, text }: Argument): string {
  if (text === undefined) throw usageError(`${name} is required; see --help.`);
  return text;
}

/** Parses decimal digits without leading zeros, such as `120`. @throws {CliError} with exit code 64 */
export const parseWholeNumber = numberParser(/^(0|[1-9]\d*)$/, "a whole number");

/** Parses decimal digits, such as `0.5`. @throws {CliError} with exit code 64 */
export const parseNumber = numberParser(/^\d+(\.\d+)?$/, "a number");

export const invalidArgument = ({ name, text }: Argument, expected: string): CliError =>
  usageError(`${name} must be ${expected}, not ${JSON.stringify(text)}; see --help.`);

function numberParser(pattern: RegExp, kind: string) {
  return (argument: Argument, { min, max }: Range): number => {
    const text = requireText(argument);
    const value = pattern.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw invalidArgument(argument, `${kind} from ${min} to ${max}`);
  };
}
