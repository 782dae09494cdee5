/**
 * `bun run bench [NAME]` runs `bench/NAME.bench.ts` of the package that contains it, between two descriptions of the machine, or
 * lists the benchmarks.
 */
import { basename, join, resolve } from "node:path";
import { describeMachine, EXIT } from "@latchkey/cli";

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
  (isHelp ? process.stdout : process.stderr).write(`Usage: bun run bench NAME [--help]\n\n${lines.join("")}`);
  process.exit(isHelp ? EXIT.ok : EXIT.usage);
}
const isRun = !args.includes("--help");
if (isRun) process.stdout.write(`${describeMachine()}\n`);
const { exited } = Bun.spawn([process.execPath, path, ...args], {
  // Otherwise at most 256 requests of a benchmark run at the same time.
  env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" },
  stdio: ["inherit", "inherit", "inherit"],
});
const exitCode = await exited;
if (isRun) process.stdout.write(`\n${describeMachine()}\n`);
process.exit(exitCode);
