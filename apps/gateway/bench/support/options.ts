/** Command-line options of the benchmarks, all of them numbers. */
import { parseArgs } from "node:util";

/** EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;

/** Parses `--name NUMBER` options; prints the usage and exits if the arguments are invalid. */
export function parseOptions<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const names = Object.keys(defaults) as Name[];
  const entries = names.map((name) => [name, { type: "string", default: String(defaults[name]) }] as const);
  try {
    const { values } = parseArgs({ options: Object.fromEntries(entries) });
    const numbers = names.map((name) => [name, Number(values[name])] as const);
    for (const [name, value] of numbers) {
      if (!(value >= 0)) throw new Error(`--${name} must be a number`);
    }
    // The cast is safe because `names` are all the keys of `defaults`.
    return Object.fromEntries(numbers) as Record<Name, number>;
  } catch (error) {
    const usage = names.map((name) => `[--${name} ${defaults[name]}]`).join(" ");
    process.stderr.write(`${error instanceof Error ? error.message : error}\nOptions: ${usage}\n`);
    process.exit(USAGE_EXIT_CODE);
  }
}

export const print = (line = ""): void => void process.stdout.write(`${line}\n`);
