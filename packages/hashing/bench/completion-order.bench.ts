/**
 * The time of each of sixteen derivations that arrive together at one worker, and of Poisson arrivals at all workers, at
 * `--load` percent of the capacity. `--baseline` is the folder of another checkout with its native kernels built; both
 * alternate in each round.
 */
import { join, resolve } from "node:path";
import { interleave, median, parseOptions, print, ratios } from "@latchkey/testing/benchmark";
import { $ } from "bun";

const options = parseOptions({ baseline: "", kernel: "auto", rounds: 5, seconds: 20, load: 80 });
const { baseline, kernel, rounds, seconds, load } = options;
const PROGRAM = join(import.meta.dir, "timed-derivations.ts");
const HERE = resolve(import.meta.dir, "../../..");

type Result = Readonly<Record<"mean" | "p99" | "perSecond", number>>;

/** The program prints exactly this shape. */
function run(folder: string, task: string, ...numbers: number[]): Promise<Result> {
  const index = join(folder, "packages/hashing/src/index.ts");
  return $`${process.execPath} ${PROGRAM} ${index} ${kernel} ${task} ${numbers}`.json();
}

async function compare(title: string, task: string, ...numbers: number[]): Promise<void> {
  print(`\n${title}`);
  const results = await interleave(
    {
      ...(baseline !== "" && { baseline: () => run(resolve(baseline), task, ...numbers) }),
      current: () => run(HERE, task, ...numbers),
    },
    { rounds },
  );
  for (const figure of ["mean", "p99", "perSecond"] as const) {
    const values = (list: readonly Result[]) => list.map((each) => each[figure]);
    const medians = Object.entries(results).map(
      ([name, list]) => `${name} ${median(values(list)).toFixed(1)}`,
    );
    const ratio = results.baseline && median(ratios(values(results.current), values(results.baseline)));
    print(`  ${figure.padEnd(10)} ${medians.join(", ")}${ratio ? `, ratio ${ratio.toFixed(2)}` : ""}`);
  }
}

print(`kernel ${kernel}; ${rounds} rounds; milliseconds, and derivations per second`);
await compare("burst of 16 on one worker", "burst", 16);
const { perSecond } = await run(HERE, "saturate", 3);
const rate = (perSecond * load) / 100;
const title = `Poisson arrivals, ${rate.toFixed(1)}/s, ${load} % of the capacity`;
await compare(title, "poisson", rate, seconds);
