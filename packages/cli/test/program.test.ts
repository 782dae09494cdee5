/** Programs built on this package, as processes: exit codes, messages and output. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CliError, describeMachine, parseNumber, parseWholeNumber, printable, toJson } from "@latchkey/cli";

const FIXTURE = join(import.meta.dir, "support/program.ts");

async function execute(...command: string[]) {
  await using child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}
const run = (...args: string[]) => execute(process.execPath, FIXTURE, ...args);

test("a CliError is printed line by line without control characters, and its code is that of the process; others are thrown", async () => {
  const failed = await run("fail", "69", "first\u001b\nsecond\u200b");
  expect(failed).toEqual({ code: 69, stdout: "", stderr: "first\\u001b\nsecond\\u200b\n" });
  expect(await run("throw", "unexpected")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("TypeError: unexpected"),
  });
});

describe("standard output", () => {
  /** In the script, `"$@"` is the program with these arguments. */
  const runInShell = (script: string, ...args: string[]) =>
    execute("sh", "-c", script, "sh", process.execPath, FIXTURE, ...args);

  test("can be closed early by its reader, which is not an error", async () => {
    const { stdout, stderr } = await runInShell(
      '{ "$@"; echo "code $?" >&2; } | head -n 1',
      "lines",
      "100000",
    );
    expect({ stdout, stderr }).toEqual({ stdout: "line 1\n", stderr: "code 0\n" });
  });

  test("reaches a slow reader completely before the process exits", async () => {
    const { stdout } = await runInShell(
      '"$@" | while read -r line; do echo "$line"; done | wc -l',
      "lines",
      "20000",
    );
    expect(Number(stdout)).toBe(20_000);
  });

  test.if(process.platform === "linux")(
    "that cannot be written results in a message and exit code 1",
    async () => {
      const { stderr } = await runInShell('"$@" > /dev/full; echo "code $?" >&2', "lines", "1");
      expect(stderr).toBe("Cannot write to standard output (ENOSPC).\ncode 1\n");
    },
  );
});

describe("a number", () => {
  const range = { min: 0, max: 100 };

  test("can be a whole number in a range, in plain decimal digits", () => {
    const parse = (text: string) => parseWholeNumber({ name: "--limit", text }, range);
    for (const text of ["0", "7", "100"]) expect(parse(text)).toBe(Number(text));
    for (const text of ["", "-1", "101", "05", "+5", "1.0", "1e1", "0x10", " 5", "９"]) {
      const message = `--limit must be a whole number from 0 to 100, not ${JSON.stringify(text)}; see --help.`;
      expect(() => parse(text)).toThrow(new CliError(message, 64));
    }
  });

  test("can have decimals where they are accepted, and is reported if it is missing", () => {
    const parse = (text?: string) => parseNumber({ name: "--rate", text }, range);
    expect(parse("0.5")).toBe(0.5);
    for (const text of ["100.1", ".5", "5.", "1e1"])
      expect(() => parse(text)).toThrow("--rate must be a number from 0 to 100");
    expect(() => parse()).toThrow("--rate is required; see --help.");
  });
});

test("control and format characters, and those that look like spaces, are escaped, also beyond U+FFFF and in JSON, which keeps the value; others are not", () => {
  const text =
    '"a\u0000\u0085\u00ad\u200b\u202e\u2028\ufeff\u{e0041}\u00a0\u202f\u3000\u2800\u115f\u3164\uffa0\\';
  const escaped =
    '"a\\u0000\\u0085\\u00ad\\u200b\\u202e\\u2028\\ufeff\\udb40\\udc41\\u00a0\\u202f\\u3000\\u2800\\u115f\\u3164\\uffa0\\';
  expect(printable(text)).toBe(escaped);
  expect(printable("日本語 😀 é ñ\u0303")).toBe("日本語 😀 é ñ\u0303");
  const value = { text, list: [null, 1] };
  expect(toJson(value)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(toJson(value))).toEqual(value);
});

test("the description of the machine names the cores and Bun, and the load average by default", () => {
  expect(describeMachine()).toMatch(/, \d+ cores, .+, Bun [\d.]+, load average [\d.]+ [\d.]+ [\d.]+$/);
  expect(describeMachine({ loadAverage: false })).toMatch(/, \d+ cores, .+, Bun [\d.]+$/);
});
