/** Runs all static checks at the same time. Prints the output of each as soon as it ends; fails if one fails. */
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const program = (name: string): string => join(ROOT, "node_modules/.bin", name);

/**
 * Keeps what it found in unchanged files: the client's build shares `tsconfig.json`, so this is not stated there. Several
 * checkers would each resolve the types that all files share, which costs more than they save on a few cores.
 */
const compile = (name: string, ...project: string[]): readonly string[] => [
  ...[program("tsc"), "--checkers", "1", "--incremental", "--tsBuildInfoFile"],
  ...[join(ROOT, `node_modules/.cache/${name}.tsbuildinfo`), ...project],
];

/** The longest one first. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  types: compile("tsc"),
  "types of the pages' scripts": compile("pages", "--project", "apps/gateway/src/pages/browser"),
  "format and lint": [program("biome"), "ci", "--error-on-warnings", "."],
  rules: [process.execPath, "test", "--cwd", "scripts", "--timeout", "120000"],
};

async function passes(name: string, command: readonly string[]): Promise<boolean> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const outcome = exitCode === 0 ? "passed" : "failed";
  process.stdout.write(`${stdout}${stderr}${name}: ${outcome} in ${seconds} s\n`);
  return exitCode === 0;
}

const outcomes = await Promise.all(Object.entries(CHECKS).map(([name, command]) => passes(name, command)));
process.exit(outcomes.every(Boolean) ? 0 : 1);
