/** Parses times, URLs and names of the command line. */
import { type Argument, invalidArgument, type Range, requireText } from "@latchkey/cli";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** Parses a time such as `800ms`, `1s` or `1.5s`. @throws {CliError} with exit code 64 */
export function parseMilliseconds(argument: Argument): number {
  const [, figure, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(requireText(argument)) ?? [];
  const milliseconds = Number(figure) * (UNIT_MS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw invalidArgument(argument, "a time such as 800ms or 1s");
}

/** Parses whole seconds such as `10s`, `2m` or `10`. @throws {CliError} with exit code 64 */
export function parseSeconds(argument: Argument, { min, max }: Range): number {
  const [, figure, unit = "s"] = /^(\d+(?:\.\d+)?)(s|m)?$/.exec(requireText(argument)) ?? [];
  const seconds = (Number(figure) * (UNIT_MS[unit] ?? Number.NaN)) / 1000;
  if (Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  throw invalidArgument(argument, `whole seconds from ${min} to ${max}, such as 10s or 2m`);
}

/** @throws {CliError} with exit code 64 */
export function parseHttpUrl(argument: Argument): URL {
  const url = URL.parse(requireText(argument));
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return url;
  throw invalidArgument(argument, "an http or https URL");
}

/** Rejects a URL with a path, because the service is always at the root. @throws {CliError} with exit code 64 */
export function parseOrigin(argument: Argument): string {
  const { href, origin } = parseHttpUrl(argument);
  if (href === `${origin}/`) return origin;
  throw invalidArgument(argument, "an http or https URL without a path, such as http://127.0.0.1:3000");
}

/** @throws {CliError} with exit code 64 */
export function parseName<Name extends string>(argument: Argument, names: readonly Name[]): Name {
  const name = names.find((known) => known === argument.text);
  if (name === undefined) throw invalidArgument(argument, names.join(" or "));
  return name;
}
