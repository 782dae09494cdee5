/** `--check-config`: what a start would work with, a line for each variable, nothing opened and no secret shown. */
import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { parseConfig } from "../../src/config/config.ts";
import { describeConfig } from "../../src/config/describe-config.ts";
import { Environment } from "../../src/config/environment.ts";

async function run(argumentsGiven: readonly string[], env: Readonly<Record<string, string>>) {
  const main = join(import.meta.dir, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, main, ...argumentsGiven], {
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

const describeVariables = (variables: Readonly<Record<string, string>>) => {
  const config = parseConfig(variables, {
    kernels: ["portable"],
    isTerminal: false,
    readFile: () => SECRET_KEY,
  });
  return describeConfig(config).trimEnd().split("\n");
};

test("each variable is a line, in the order of its declaration", () => {
  const names = describeVariables({}).map((line) => line.split("=")[0] ?? "");
  expect(names.toSorted()).toEqual(Object.keys(Environment.properties).sort());
});

test("a value that was given comes back as it was given, and can be given again", () => {
  const given = {
    NODE_ENV: "test",
    HOST: "0.0.0.0",
    PORT: "8080",
    DATABASE_URL: "file:/var/lib/latchkey.db",
    CORS_ORIGINS: "https://a.example,https://b.example",
    RATE_LIMIT_ENABLED: "true",
    RATE_LIMIT_LOGIN: "7/hour",
    HASH_WORKERS: "3",
    HASH_QUEUE_LIMIT: "0",
    METRICS_PORT: "9464",
    METRICS_HOST: "0.0.0.0",
    SHUTDOWN_DELAY_SECONDS: "5",
  };
  const lines = describeVariables(given);
  for (const [name, value] of Object.entries(given)) expect(lines).toContain(`${name}=${value}`);
});

test("what is not set shows its default, or in brackets what its absence means", () => {
  const lines = describeVariables({ RATE_LIMIT_ENABLED: "false", NODE_ENV: "production", ...PRODUCTION });
  expect(lines).toContain("CORS_ORIGINS=(none)");
  expect(lines).toContain("RATE_LIMIT_LOGIN=(off)");
  expect(lines).toContain("METRICS_PORT=(none: no metrics listener)");
  expect(lines).toContain("HASH_NICE=5");
});

const PRODUCTION = { DATABASE_URL: "postgres://latchkey@db/latchkey", AUTH_SECRET_KEY: SECRET_KEY };

describe("secrets are masked", () => {
  test.each([
    ["postgres://latchkey:Hunter2@db:5432/latchkey", "postgres://latchkey:***@db:5432/latchkey"],
    ["postgres://latchkey@db/latchkey?password=Hunter2", "postgres://latchkey@db/latchkey?***"],
    ["postgresql://u:Hunt%40er2@db/d?sslmode=require", "postgresql://u:***@db/d?***"],
  ])("DATABASE_URL=%s", (url, shown) => {
    expect(describeVariables({ ...PRODUCTION, DATABASE_URL: url })).toContain(`DATABASE_URL=${shown}`);
  });

  test("keys, and the password of Redis, also from files", () => {
    const lines = describeVariables({
      ...PRODUCTION,
      AUTH_SECRET_KEY_PREVIOUS_FILE: "/run/previous",
      REDIS_URL: "rediss://:Hunter2@cache:6380/1",
    });
    expect(lines).toContain("AUTH_SECRET_KEY=***");
    expect(lines).toContain("AUTH_SECRET_KEY_PREVIOUS=***");
    expect(lines).toContain("REDIS_URL=rediss://:***@cache:6380/1");
    expect(lines.join()).not.toContain(SECRET_KEY);
  });
});

describe("at the shell", () => {
  test("it prints to stdout, warns on stderr, exits with 0 and makes neither a key nor a database", async () => {
    await using folder = await openFolder();
    const { stdout, stderr, code } = await run(["--check-config"], {
      DATABASE_URL: folder.databaseUrl,
      AUTH_SECRET_KEY_PREVIOUS: "Hunter2",
    });
    expect(code).toBe(0);
    expect(stdout).toContain(`DATABASE_URL=${folder.databaseUrl}\n`);
    expect(stdout).toContain("AUTH_SECRET_KEY=(made and kept beside the database)\n");
    expect(stderr).toStartWith("AUTH_SECRET_KEY_PREVIOUS is shorter");
    expect(stdout + stderr).not.toContain("Hunter2");
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("faults are what they are at a start: a line each on stderr, exit code 78", async () => {
    const { stdout, stderr, code } = await run(["--check-config"], { PORT: "x", METRICS_PORT: "70000" });
    expect([stdout, code]).toEqual(["", 78]);
    expect(stderr.trimEnd().split("\n").sort()).toEqual([
      expect.stringMatching(/^METRICS_PORT: /),
      expect.stringMatching(/^PORT: /),
    ]);
  });

  test.each([[["--check"]], [["--check-config", "now"]], [["serve"]]])(
    "%p is a usage error, exit code 64",
    async (words) => {
      const { stdout, stderr, code } = await run(words, {});
      expect([stdout, stderr, code]).toEqual(["", "Usage: bun start [--check-config]\n", 64]);
    },
  );
});
