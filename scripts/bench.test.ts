/** The list of benchmarks, the options of one, and the statistics, compared with values calculated by hand. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { median, medianInterval } from "@latchkey/testing/benchmark";

function bench(...args: readonly string[]) {
  const command = [process.execPath, join(import.meta.dir, "bench.ts"), ...args];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
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
  const help = bench("hashing", "--help");
  expect(help.stdout).toMatch(
    /^Options:\n {2}--rounds +default: 5\n {2}--seconds +default: 2\n {2}--help\n$/,
  );
  expect([help.exitCode, help.stderr]).toEqual([0, ""]);
  const [unknown, missing] = [bench("hashing", "--fast"), bench("hashing", "--baseline")];
  expect([unknown.exitCode, unknown.stderr]).toEqual([64, expect.stringContaining("'--fast'")]);
  expect([missing.exitCode, missing.stderr]).toEqual([64, "--baseline requires a value\n"]);
});

test("the interval of the median consists of the values whose ranks a binomial distribution includes in 95 %", () => {
  // Of 100 fair coins, 40 to 60 are heads with a probability of 0.9648: the ranks 40 and 61.
  expect(medianInterval(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual([40, 61]);
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
});
