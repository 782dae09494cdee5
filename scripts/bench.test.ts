/** The list of benchmarks, and the options of one. */
import { expect, test } from "bun:test";
import { join } from "node:path";

function bench(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    process.execPath,
    join(import.meta.dir, "bench.ts"),
    ...args,
  ]);
  return { exitCode, stdout: `${stdout}`, stderr: `${stderr}` };
}

test("without a name or with --help, each benchmark is a line with its purpose, in alphabetical order", () => {
  const { exitCode, stdout } = bench();
  expect(exitCode).toBe(0);
  expect(bench("--help").stdout).toBe(stdout);
  const [usage, , ...lines] = stdout.trimEnd().split("\n");
  expect(usage).toStartWith("Usage: bun run bench NAME");
  expect(lines.toSorted()).toEqual(lines);
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(line).toMatch(/^ {2}[a-z-]+ +[A-Z].{20,}\.$/);
  expect(bench("unknown")).toEqual({ exitCode: 64, stdout: "", stderr: stdout });
});

test("NAME --help prints the options with their defaults and runs nothing; an unknown option and a missing value are errors", () => {
  const options = /^Options:\n {2}--rounds +default: 5\n {2}--seconds +default: 2\n {2}--help\n$/;
  expect(bench("hashing", "--help")).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(options),
    stderr: "",
  });
  expect(bench("hashing", "--fast")).toMatchObject({
    exitCode: 64,
    stderr: expect.stringContaining("'--fast'"),
  });
  expect(bench("hashing", "--baseline")).toEqual({
    exitCode: 64,
    stdout: "",
    stderr: "--baseline requires a value\n",
  });
});
