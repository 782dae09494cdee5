/** The figures that commands take. Every wrong one is a sentence. */
import { EXIT, LoadtestError } from "../errors.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000 };

interface Named {
  /** The option, such as `--p99`. */
  readonly name: string;
  readonly text: string | undefined;
}

/** `800ms`, `1s` or `1.5s`. @throws {LoadtestError} with exit code 64 */
export function parseMilliseconds({ name, text }: Named): number {
  const [, figure, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(expectText({ name, text })) ?? [];
  const milliseconds = Number(figure) * (UNIT_MS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw wrong(`${name} must be a time such as 800ms or 1s, not ${JSON.stringify(text)}`);
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** A decimal within bounds. @throws {LoadtestError} with exit code 64 */
export function parseNumber({ name, text }: Named, { min, max }: Range): number {
  const given = expectText({ name, text });
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw wrong(`${name} must be a number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}

/** A whole number within bounds. @throws {LoadtestError} with exit code 64 */
export function parseWhole({ name, text }: Named, { min, max }: Range): number {
  const given = expectText({ name, text });
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw wrong(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}

/** An http or https URL, without a trailing slash. @throws {LoadtestError} with exit code 64 */
export function parseOrigin({ name, text }: Named): string {
  const given = expectText({ name, text });
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return url.origin;
  throw wrong(`${name} must be an http or https URL, not ${JSON.stringify(text)}`);
}

export function expectText({ name, text }: Named): string {
  if (text === undefined) throw wrong(`${name} is missing`);
  return text;
}

const wrong = (problem: string) => new LoadtestError(`${problem}; --help shows what there is.`, EXIT.usage);
