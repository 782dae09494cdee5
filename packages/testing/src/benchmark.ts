/** What the benchmarks share: options, interleaved rounds and figures. `scripts/bench.ts` prints a description of the machine. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;

export const print = (line = ""): void => void process.stdout.write(`${line}\n`);

type Options<Defaults> = { [Name in keyof Defaults]: Defaults[Name] extends number ? number : string };

/**
 * Parses `--name VALUE` options. If the default is a number, the value must be a number of at least 0. For `--help` and for an
 * invalid option, prints all options with their defaults and exits.
 */
export function parseOptions<Defaults extends Readonly<Record<string, number | string>>>(
  defaults: Defaults,
): Options<Defaults> {
  const entries = Object.entries(defaults);
  const usage = entries.map(([name, value]) => `  --${name.padEnd(12)} default: ${value}\n`).join("");
  const options: ParseArgsConfig["options"] = { help: { type: "boolean" } };
  for (const [name, value] of entries) options[name] = { type: "string", default: `${value}` };
  try {
    const { values } = parseArgs({ options });
    if (values.help) {
      print(`Options:\n${usage}  --help`);
      process.exit();
    }
    const parsed = entries.map(([name, value]) => {
      const isNumber = typeof value === "number";
      if (isNumber && !(Number(values[name]) >= 0)) throw new Error(`--${name} must be a number`);
      return [name, isNumber ? Number(values[name]) : values[name]];
    });
    // The cast is safe because `entries` are all the defaults.
    return Object.fromEntries(parsed) as Options<Defaults>;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nOptions:\n${usage}`);
    process.exit(USAGE_EXIT_CODE);
  }
}

interface RoundOptions {
  /** Number of rounds whose results are returned. */
  readonly rounds: number;
  /** Number of earlier rounds, whose results are dropped. @default 0 */
  readonly warmUp?: number;
  /** The order of the tasks in a round. @default alternates: a slow change of the machine's load favours no task */
  readonly order?: <Task>(tasks: Task[], round: number) => Task[];
}

type Tasks = Readonly<Record<string, (round: number) => unknown>>;
type Results<Each extends Tasks> = { readonly [Name in keyof Each]: Awaited<ReturnType<Each[Name]>>[] };

/** Runs each task once per round: other load on the machine affects all of them equally. */
export async function interleave<Each extends Tasks>(
  tasks: Each,
  { rounds, warmUp = 0, order = (each, round) => (round % 2 === 0 ? each : each.toReversed()) }: RoundOptions,
): Promise<Results<Each>> {
  const entries = Object.entries(tasks).map(([name, run]) => ({ name, run, results: [] as unknown[] }));
  for (let round = -warmUp; round < rounds; round++) {
    for (const { run, results } of order(entries, round)) {
      const result = await run(round);
      if (round >= 0) results.push(result);
    }
  }
  // The cast is safe because each name has the results of its own task.
  return Object.fromEntries(entries.map(({ name, results }) => [name, results])) as Results<Each>;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 0 ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
};

/** The 95 % confidence interval of the median: two order statistics, with the normal approximation of the binomial. */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2);
  return [sorted[rank - 1] ?? Number.NaN, sorted[sorted.length - rank] ?? Number.NaN];
}

/** The nearest-rank percentile. */
export const percentile = (values: readonly number[], percent: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? Number.NaN;

/** Divides the two values of each round, because the machine's speed changes over time. Returns the median of the ratios. */
export const medianRatio = (values: readonly number[], baseline: readonly number[]): number =>
  median(values.map((value, round) => value / (baseline[round] ?? Number.NaN)));

export const metOrMissed = (isMet: boolean): string => (isMet ? "met" : "missed");

/** Prints whether a target is met; if not, the exit code is 1. */
export function check(isMet: boolean, target: string): void {
  if (!isMet) process.exitCode = 1;
  print(`${target}: ${metOrMissed(isMet)}`);
}

/** Prints a Markdown table; the first row is its head. */
export function printTable(rows: readonly (readonly string[])[]): void {
  for (const [index, cells] of rows.entries()) {
    print(`| ${cells.join(" | ")} |`);
    if (index === 0) print(`|---|${"--:|".repeat(cells.length - 1)}`);
  }
}

interface RowOptions {
  /** Decimal places. @default 1 */
  readonly digits?: number;
  /** Other measurements by name. The row contains the median ratio of `values` to each of them. @default none */
  readonly baselines?: Readonly<Record<string, readonly number[]>>;
}

/** Prints the values of all rounds and their median. `bun run bench --baseline` compares rows with equal names. */
export function printRow(
  name: string,
  values: readonly number[],
  { digits = 1, baselines = {} }: RowOptions = {},
): void {
  const rounds = values.map((value) => value.toFixed(digits)).join(" ");
  const compared = Object.entries(baselines).map(
    ([baseline, others]) => `  ${medianRatio(values, others).toFixed(2)} × ${baseline}`,
  );
  print(`  ${name.padEnd(44)} ${median(values).toFixed(digits).padStart(8)} (${rounds})${compared.join("")}`);
  process.send?.({ name, value: median(values) } satisfies Figure);
}

/** What a benchmark sends to `scripts/bench.ts`. */
export interface Figure {
  readonly name: string;
  readonly value: number;
}
