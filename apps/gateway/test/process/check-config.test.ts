/** `--check-config`, `--help` and `--version` at the shell: they print to stdout, open nothing and show no secret. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { VARIABLE_NAMES } from "@latchkey/config";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { GATEWAY_MAIN, ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";

const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  runProcess([process.execPath, GATEWAY_MAIN, ...args], { env });

test("it prints values to stdout and warnings to stderr, and creates neither a key nor a database", async () => {
  await using folder = await openFolder();
  const previous = join(folder.path, "previous");
  await Bun.write(previous, "Hunter2");
  const env = { DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY_PREVIOUS_FILE: previous };
  const { stdout, stderr, code } = await run(["--check-config"], env);
  expect(code).toBe(0);
  expect(stdout).toContain(`DATABASE_URL=${folder.databaseUrl}\n`);
  expect(stdout).toContain(
    "AUTH_SECRET_KEY=(generated and stored next to a file: database, unless AUTH_PRIVATE_KEY is set)\n",
  );
  expect(stderr).toStartWith("AUTH_SECRET_KEY_PREVIOUS is shorter");
  expect(stdout + stderr).not.toContain("Hunter2");
  expect(await readdir(folder.path)).toEqual(["previous"]);
});

test("a value that Bun changes in .env is a warning that names the variable", async () => {
  await using folder = await openFolder();
  await Bun.write(
    join(folder.path, ".env"),
    "DATABASE_URL='postgres://u:Pa$word9@127.0.0.1/d'\nAUTH_ISSUER=a\\$b\n",
  );
  const main = [process.execPath, GATEWAY_MAIN, "--check-config"];
  const env = { AUTH_SECRET_KEY: SECRET_KEY };
  const { stdout, stderr, code } = await runProcess(main, { env, cwd: folder.path });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^DATABASE_URL contains a \$ in \.env, .*\n$/)]);
  expect(stdout).toContain("AUTH_ISSUER=a$b\n");
});

test("--version prints the version in the root package.json, even if the configuration is invalid", async () => {
  const { version } = await Bun.file(join(ROOT, "package.json")).json();
  expect(await run(["--version"], { PORT: "x" })).toEqual({ stdout: `${version}\n`, stderr: "", code: 0 });
});

test.each([[["--version", "--check-config"]], [["serve"]]])(
  "%p is a usage error with exit code 64",
  async (args) => {
    const { stdout, stderr, code } = await run(args, {});
    expect([stdout, stderr, code]).toEqual([
      "",
      `Invalid arguments: ${args.join(" ")}\nUsage: bun start [--ephemeral | --check-config | --help | --version]\n`,
      64,
    ]);
  },
);

test("--help lists every variable with its default, in at most 80 columns, and opens nothing", async () => {
  await using folder = await openFolder();
  const { stdout, stderr, code } = await run(["--help"], { DATABASE_URL: folder.databaseUrl, PORT: "x" });
  expect([stderr, code]).toEqual(["", 0]);
  expect([...stdout.matchAll(/^ {2}([A-Z_]+) {2}default: ./gm)].map(([, name]) => name)).toEqual([
    ...VARIABLE_NAMES,
  ]);
  expect(stdout).toContain("  PORT  default: 3000\n");
  expect(stdout).toContain("  METRICS_PORT  default: no metrics\n");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(await readdir(folder.path)).toEqual([]);
});
