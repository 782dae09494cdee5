/**
 * `bun run bench [NAME]` runs `bench/NAME.bench.ts` of the package that contains it, between two descriptions of the machine, or
 * lists the benchmarks. With `--baseline CHECKOUT`, the benchmark measures the service and the hashing package of this and of the
 * other checkout in turn, `--repeat` times each, and the ratios of their figures are printed.
 */
import { basename, join, resolve } from "node:path";
import { describeMachine, EXIT } from "@latchkey/cli";
import { type Figure, interleave, print, printRow } from "@latchkey/testing/benchmark";

const ROOT = resolve(import.meta.dir, "..");
const [name, ...args] = process.argv.slice(2);

const benches = new Map(
  ["{apps,packages}/*", "deploy"]
    .flatMap((folder) => [...new Bun.Glob(`${folder}/bench/*.bench.ts`).scanSync(ROOT)])
    .map((path) => [basename(path, ".bench.ts"), join(ROOT, path)] as const)
    .sort(),
);

/** A line with the first sentence of the file's head comment. */
async function describeBench(name: string, path: string): Promise<string> {
  const [, comment = ""] = /^\/\*\*(.+?)\*\//s.exec(await Bun.file(path).text()) ?? [];
  const [sentence] = /^.*?(?=[.;]( |$))/.exec(comment.replaceAll(/\s+(\* )?/g, " ").trim()) ?? [];
  return `  ${name.padEnd(18)} ${sentence}.\n`;
}

const path = name === undefined ? undefined : benches.get(name);
if (path === undefined) {
  const lines = await Promise.all([...benches].map(([each, file]) => describeBench(each, file)));
  const isHelp = name === undefined || name === "--help";
  const usage = "Usage: bun run bench NAME [--baseline CHECKOUT [--repeat 5]] [--help]";
  (isHelp ? process.stdout : process.stderr).write(`${usage}\n\n${lines.join("")}`);
  process.exit(isHelp ? EXIT.ok : EXIT.usage);
}

/** Removes an option of this program and returns its value. */
function takeOption(option: string): string | undefined {
  const index = args.indexOf(option);
  if (index === -1) return undefined;
  const [, value] = args.splice(index, 2);
  if (value !== undefined) return value;
  process.stderr.write(`${option} requires a value\n`);
  process.exit(EXIT.usage);
}
const baseline = takeOption("--baseline");
const rounds = Number(takeOption("--repeat") ?? 5);

/** Returns the figures by name, and sets the exit code if the benchmark fails. */
async function run(checkout = ROOT) {
  const figures = new Map<string, number>();
  const { exited } = Bun.spawn([process.execPath, path ?? "", ...args], {
    // Otherwise at most 256 requests of a benchmark run at the same time.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "20000", BENCH_CHECKOUT: checkout },
    stdio: ["inherit", "inherit", "inherit"],
    ipc: ({ name, value }: Figure) => void figures.set(name, value),
  });
  process.exitCode = (await exited) || process.exitCode;
  return figures;
}

async function compare(checkout: string): Promise<void> {
  const prepare = [process.execPath, "scripts/prepare.ts"];
  const { success } = Bun.spawnSync(prepare, { cwd: checkout, stdio: ["ignore", "inherit", "inherit"] });
  if (!success) throw new Error(`${checkout} cannot be prepared`);
  const { current, other } = await interleave(
    { current: () => run(), other: () => run(resolve(checkout)) },
    { rounds },
  );
  print(`\n${checkout}, and this checkout in relation to it; medians of ${rounds} runs`);
  for (const figure of current[0]?.keys() ?? []) {
    const values = (runs: typeof current) => runs.map((figures) => figures.get(figure) ?? Number.NaN);
    printRow(figure, values(other), { digits: 2 });
    printRow("", values(current), { digits: 2, baselines: { baseline: values(other) } });
  }
}

if (args.includes("--help")) await run();
else {
  print(describeMachine());
  await (baseline === undefined ? run() : compare(baseline));
  print(`\n${describeMachine()}`);
}
