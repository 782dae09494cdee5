/** The help of every command contains examples, and all examples are existing commands. */
import { expect, test } from "bun:test";
import { EXIT } from "@latchkey/cli";
import { runTool } from "../support/tool.ts";

const USERS =
  "create show list activate deactivate set-password revoke-tokens set-roles set-claims set-email send-reset delete import export stats";
const COMMANDS = [
  ...USERS.split(" ").map((name) => `users ${name}`),
  ...["migrate", "raise-ids", "events on", "events off", "events show"],
  ...["mail test", "secret generate", "hash bench"],
];
const longestLine = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

test("--help of every command prints usage and examples of commands that exist, in at most 80 columns", async () => {
  const examples: string[] = [];
  for (const command of ["users", ...COMMANDS]) {
    const { code, stdout, stderr } = await runTool([...command.split(" "), "--help"]);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
    expect(stdout).toStartWith(`Usage: bun run admin ${command}`);
    if (command !== "users") for (const part of ["Examples:\n", "--json"]) expect(stdout).toContain(part);
    expect(longestLine(stdout)).toBeLessThanOrEqual(80);
    const pattern =
      /bun run (?:--silent )?(?:admin )?((?:users|events|secret|hash|help) [\w-]+|migrate|raise-ids)/g;
    examples.push(...[...stdout.matchAll(pattern)].map(([, example = ""]) => example));
  }
  expect(examples.length).toBeGreaterThan(15);
  expect(examples.filter((example) => ![...COMMANDS, "help users"].includes(example))).toEqual([]);
});

test("the help of the program lists every command group, variable and exit code", async () => {
  const { code, stdout } = await runTool(["--help"]);
  expect(code).toBe(0);
  for (const name of ["users", "migrate", "secret", "hash", "DATABASE_URL_FILE", "HASH_WORKERS"]) {
    expect(stdout).toContain(name);
  }
  const documented = [...stdout.matchAll(/^ {2}(\d+) {2,}\S/gm)].map(([, digits]) => Number(digits));
  const { osError: _, terminated: __, ...codes } = EXIT;
  expect(documented).toEqual(Object.values(codes));
  expect(longestLine(stdout)).toBeLessThanOrEqual(80);
});

test.each(["frob --help", "-h frob", "help frob", "users frob --help", "help users frob", "frob"])(
  "%s names an unknown command and exits with 64",
  async (line) => {
    const { code, stdout, stderr } = await runTool(line.split(" "));
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toStartWith("Unknown command 'frob'");
  },
);

test("without a command, the help is an error; help users create prints the help of users create", async () => {
  for (const args of [[], ["users"]])
    expect(await runTool(args)).toMatchObject({ code: 64, stderr: expect.stringMatching(/^Usage: /) });
  expect(await runTool(["help", "users", "create"])).toEqual(await runTool(["users", "create", "--help"]));
});
