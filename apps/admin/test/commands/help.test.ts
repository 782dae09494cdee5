/** The help of every command contains examples, and all examples are existing commands. */
import { describe, expect, test } from "bun:test";
import { EXIT } from "@latchkey/cli";
import { runTool } from "../support/tool.ts";

const USERS = [
  "create",
  "show",
  "list",
  "activate",
  "deactivate",
  "set-password",
  "revoke-tokens",
  "delete",
  "import",
  "export",
  "stats",
];
const COMMANDS = [
  ...USERS.map((name) => ["users", name]),
  ["migrate"],
  ["secret", "generate"],
  ["hash", "bench"],
];

test.each(COMMANDS.map((command) => [command.join(" "), command] as const))(
  "%s --help prints usage and examples to standard output",
  async (name, command) => {
    const { code, stdout, stderr } = await runTool([...command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toStartWith(`Usage: bun run admin ${name}`);
    expect(stdout).toContain("Examples:\n");
    expect(stdout).toContain("--json");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  },
);

test("the help of the program lists every command group, variable and exit code", async () => {
  const { code, stdout } = await runTool(["--help"]);
  expect(code).toBe(0);
  for (const name of [
    "users",
    "migrate",
    "secret",
    "hash",
    "DATABASE_URL",
    "DATABASE_URL_FILE",
    "HASH_WORKERS",
  ]) {
    expect(stdout).toContain(name);
  }
  const documented = [...stdout.matchAll(/^ {2}(\d+) {2,}\S/gm)].map(([, digits]) => Number(digits));
  expect(documented).toEqual(Object.values(EXIT));
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("every example in the help is an existing command", async () => {
  const pages = await Promise.all(
    [["--help"], ["users", "--help"], ...COMMANDS.map((command) => [...command, "--help"])].map((args) =>
      runTool(args),
    ),
  );
  const known = new Set([...COMMANDS.map((command) => command.join(" ")), "help users"]);
  const examples = pages.flatMap(({ stdout }) => [
    ...stdout.matchAll(/bun run (?:--silent )?(?:admin )?((?:users|secret|hash|help) [\w-]+|migrate)/g),
  ]);
  expect(examples.length).toBeGreaterThan(20);
  expect(examples.map(([, command = ""]) => command).filter((command) => !known.has(command))).toEqual([]);
});

test.each(["frob --help", "-h frob", "help frob", "users frob --help", "help users frob", "frob"])(
  "%s names an unknown command and exits with 64",
  async (line) => {
    const { code, stdout, stderr } = await runTool(line.split(" "));
    expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
    expect(stderr).toStartWith("Unknown command 'frob'");
  },
);

test("help users create prints the help of users create", async () => {
  expect(await runTool(["help", "users", "create"])).toEqual(await runTool(["users", "create", "--help"]));
});

describe("without a command", () => {
  test.each([[[]], [["users"]], [["secret"]], [["hash"]]])(
    "%p prints help to standard error and exits with 64",
    async (args: string[]) => {
      const { code, stdout, stderr } = await runTool(args);
      expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
      expect(stderr).toContain("Usage: bun run admin");
      expect(stderr).toContain("Commands:");
    },
  );
});
