/**
 * `bun run bench [NAME]` runs `bench/NAME.bench.ts` of the package that contains it, between two descriptions of the machine, or
 * lists the names.
 */
import { basename, join, resolve } from "node:path";
import { describeMachine } from "@latchkey/cli";

/** EX_USAGE of sysexits.h. */
const USAGE_EXIT_CODE = 64;
const ROOT = resolve(import.meta.dir, "..");
const [name, ...args] = process.argv.slice(2);

const benches = new Map(
  ["{apps,packages}/*", "deploy"]
    .flatMap((folder) => [...new Bun.Glob(`${folder}/bench/*.bench.ts`).scanSync(ROOT)])
    .sort()
    .map((path) => [basename(path, ".bench.ts"), join(ROOT, path)]),
);
const path = name === undefined ? undefined : benches.get(name);
if (path === undefined) {
  process.stderr.write(
    `Usage: bun run bench NAME, where NAME is one of: ${[...benches.keys()].join(", ")}\n`,
  );
  process.exit(name === undefined ? 0 : USAGE_EXIT_CODE);
}
process.stdout.write(`${describeMachine()}\n`);
const { exited } = Bun.spawn([process.execPath, path, ...args], {
  // Otherwise at most 256 requests of a benchmark run at the same time.
  env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" },
  stdio: ["inherit", "inherit", "inherit"],
});
const exitCode = await exited;
process.stdout.write(`\n${describeMachine()}\n`);
process.exit(exitCode);
