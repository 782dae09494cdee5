/** Parses times and URLs of the command line. */
import { type Argument, invalidArgument, requireText } from "@latchkey/cli";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000 };

/** `800ms`, `1s` or `1.5s`. @throws {CliError} with exit code 64 */
export function parseMilliseconds(argument: Argument): number {
  const [, figure, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(requireText(argument)) ?? [];
  const milliseconds = Number(figure) * (UNIT_MS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw invalidArgument(argument, "a time such as 800ms or 1s");
}

/** @returns the origin of an http or https URL. @throws {CliError} with exit code 64 */
export function parseOrigin(argument: Argument): string {
  const text = requireText(argument);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return url.origin;
  throw invalidArgument(argument, "an http or https URL");
}

/** @throws {CliError} with exit code 64 */
export function parseName<Name extends string>(argument: Argument, names: readonly Name[]): Name {
  const name = names.find((known) => known === argument.text);
  if (name === undefined) throw invalidArgument(argument, names.join(" or "));
  return name;
}
