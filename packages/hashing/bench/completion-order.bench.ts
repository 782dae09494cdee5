/**
 * `bun run bench completion-order [--baseline FOLDER] [--kernel NAME] [--rounds N] [--seconds S] [--load PERCENT]`: the time of
 * each of sixteen derivations that arrive together at one worker, and of Poisson arrivals at all workers. The baseline is
 * another checkout with its native kernels built; both alternate in each round.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";

const options = {
  baseline: { type: "string" },
  kernel: { type: "string", default: "auto" },
  rounds: { type: "string", default: "5" },
  seconds: { type: "string", default: "20" },
  load: { type: "string", default: "80" },
} as const;
const { values } = parseArgs({ options });
const rounds = Number(values.rounds);
const HERE = resolve(import.meta.dir, "../../..");
const folders = { baseline: values.baseline && resolve(values.baseline), current: HERE };

interface Result {
  readonly mean: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** Safe because the program prints exactly this shape. */
const parseResult = (json: string): Result => JSON.parse(json) as Result;

async function run(folder: string, task: string, ...numbers: number[]): Promise<Result> {
  const program = join(import.meta.dir, "timed-derivations.ts");
  const args = [join(folder, "packages/hashing/src/index.ts"), values.kernel, task, ...numbers.map(String)];
  const child = Bun.spawn([process.execPath, program, ...args], { stdout: "pipe", stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${folder} failed`);
  return parseResult(output);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN;

async function compare(title: string, task: string, ...numbers: number[]): Promise<void> {
  print(`\n${title}`);
  const results = new Map<string, Result[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, folder] of Object.entries(folders)) {
      if (!folder) continue;
      results.set(name, [...(results.get(name) ?? []), await run(folder, task, ...numbers)]);
    }
  }
  for (const figure of ["mean", "p99", "perSecond"] as const) {
    const medians = [...results].map(
      ([name, list]) => `${name} ${median(list.map((each) => each[figure])).toFixed(1)}`,
    );
    const baseline = results.get("baseline") ?? [];
    const ratios = (results.get("current") ?? []).map(
      (each, round) => each[figure] / (baseline[round]?.[figure] ?? Number.NaN),
    );
    print(
      `  ${figure.padEnd(10)} ${medians.join(", ")}${baseline.length > 0 ? `, ratio ${median(ratios).toFixed(2)}` : ""}`,
    );
  }
}

print(describeMachine());
print(`kernel ${values.kernel}; ${rounds} rounds; milliseconds, and derivations per second`);
await compare("burst of 16 on one worker", "burst", 16);
const { perSecond } = await run(HERE, "saturate", 3);
const rate = (perSecond * Number(values.load)) / 100;
await compare(
  `Poisson arrivals, ${rate.toFixed(1)}/s, ${values.load} % of the capacity`,
  "poisson",
  rate,
  Number(values.seconds),
);
