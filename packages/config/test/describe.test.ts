/** The effective values for operators: one line per variable, no secret. */
import { describe, expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { describeEnvironment } from "../src/describe.ts";
import { parseEnvironment, type Variables } from "../src/parse.ts";
import { VARIABLE_NAMES } from "../src/variables.ts";

const PRODUCTION = { DATABASE_URL: "postgres://latchkey@db/latchkey", AUTH_SECRET_KEY: SECRET_KEY };

const describeVariables = (variables: Variables): string[] =>
  describeEnvironment(parseEnvironment(variables, { readFile: () => SECRET_KEY }))
    .trimEnd()
    .split("\n");

test("each variable is one line, in the order of the definitions", () => {
  const names = describeVariables({}).map((line) => line.split("=")[0] ?? "");
  expect(names).toEqual([...VARIABLE_NAMES]);
});

test("a value is printed as it can be set again", () => {
  const variables = {
    NODE_ENV: "test",
    PORT: "8080",
    DATABASE_URL: "file:/var/lib/latchkey.db",
    CORS_ORIGINS: "https://a.example,https://b.example",
    RATE_LIMIT_ENABLED: "true",
    RATE_LIMIT_LOGIN: "7/hour",
  };
  const lines = describeVariables(variables);
  for (const [name, value] of Object.entries(variables)) expect(lines).toContain(`${name}=${value}`);
});

test("an unset variable shows its default, or in parentheses what happens without it", () => {
  const lines = describeVariables({ NODE_ENV: "production", ...PRODUCTION });
  expect(lines).toContain("CORS_ORIGINS=(none)");
  expect(lines).toContain("METRICS_PORT=(no metrics)");
  expect(lines).toContain("REDIS_URL=(requests are counted per process)");
  expect(lines).toContain("HASH_NICE=5");
});

describe("secrets are masked:", () => {
  test.each([
    ["DATABASE_URL", "postgres://u:Hunt%40er2@db:5432/d", "postgres://u:***@db:5432/d"],
    ["DATABASE_URL", "postgresql://u@db/d?password=Hunter2", "postgresql://u@db/d?***"],
    ["DATABASE_URL", "postgres://latchkey:12/Hunter2@db", "***"],
    ["REDIS_URL", "redis://Hunter2@cache:6379", "redis://***@cache:6379"],
    ["REDIS_URL", "rediss://latchkey:Hunter2@cache:6380/1", "rediss://***:***@cache:6380/1"],
    ["REDIS_URL", "rediss://:Hunter2@cache:6380/1", "rediss://:***@cache:6380/1"],
    ["MAIL_URL", "smtps://user:Hunter2@mail.example.com", "smtps://user:***@mail.example.com"],
  ])("%s=%s", (name, url, masked) => {
    const mail = { MAIL_FROM: "a@b.cd", PUBLIC_URL: "https://a.example" };
    expect(describeVariables({ ...PRODUCTION, ...mail, [name]: url })).toContain(`${name}=${masked}`);
  });

  test("keys, also from files", () => {
    const lines = describeVariables({ ...PRODUCTION, AUTH_SECRET_KEY_PREVIOUS_FILE: "/run/previous" });
    expect(lines).toContain("AUTH_SECRET_KEY=***");
    expect(lines).toContain("AUTH_SECRET_KEY_PREVIOUS=***");
    expect(lines.join()).not.toContain(SECRET_KEY);
  });
});
