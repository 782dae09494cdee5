/** Every variable: its default, an invalid value, and how errors are reported. The variables come from the definitions. */
import { expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { parseEnvironment, parseVariables, type Variables } from "../src/parse.ts";
import { InvalidValue } from "../src/variable-kinds.ts";
import { VARIABLE_NAMES, VARIABLES, type VariableName, validateKernel } from "../src/variables.ts";
import { linesOf } from "./support/configuration-error.ts";

const options = {
  checks: { HASH_KERNEL: validateKernel(["portable"]) },
  readFile: (path: string): string => {
    throw new Error(`ENOENT: ${path}`);
  },
};
const parse = (variables: Variables) => parseEnvironment(variables, options);
const errorsOf = (variables: Variables) => linesOf(() => parse(variables));

const isRejected = (name: VariableName, text: string): boolean => {
  try {
    VARIABLES[name].parse(text, options.readFile);
    return false;
  } catch (error) {
    if (error instanceof InvalidValue) return true;
    throw error;
  }
};
/** Every kind except a secret rejects one of these. */
const INVALID = ["", "http://invalid value/"];
const invalidTextOf = (name: VariableName) => INVALID.findLast((text) => isRejected(name, text)) ?? "";

test("without variables every value is the default", () => {
  const { values, warnings } = parse({});
  expect(values).toMatchObject({
    NODE_ENV: "development",
    HOST: "127.0.0.1",
    PORT: 3000,
    DATABASE_URL: "file:./data/latchkey.db",
    DATABASE_POOL_SIZE: 10,
    AUTH_SECRET_KEY: null,
    AUTH_ALGORITHM: "HS256",
    AUTH_TOKEN_EXPIRE_MINUTES: 60,
    CORS_ORIGINS: "*",
    TRUST_PROXY: 0,
    RATE_LIMIT_ENABLED: true,
    RATE_LIMIT_DEFAULT: { text: "6000 per 1 minute" },
    RATE_LIMIT_LOGIN: { text: "5 per 1 minute" },
    RATE_LIMIT_REGISTER: { text: "3 per 1 minute" },
    RATE_LIMIT_PASSWORD_CHANGE: { text: "5 per 1 minute" },
    REDIS_URL: null,
    HASH_WORKERS: null,
    HASH_KERNEL: "auto",
    HASH_NICE: 5,
    LOG_FORMAT: "json",
    METRICS_PORT: null,
    SHUTDOWN_GRACE_SECONDS: 10,
  });
  expect(warnings).toEqual([]);
  expect(parseEnvironment({}, { ...options, isTerminal: true }).values.LOG_FORMAT).toBe("pretty");
});

test("variables that are not defined have no effect", () => {
  const { values } = parse({ PATH: "/bin", AUTH_ALGORITHMS: "none", PORT_FILE: "/run/port" });
  expect(values).toEqual(parse({}).values);
});

test.each(VARIABLE_NAMES)("an empty %s is reported, unless it means none", (name) => {
  const { accepted } = VARIABLES[name];
  expect(errorsOf({ [name]: "" })).toEqual(
    isRejected(name, "") ? [`${name}: is empty; accepted: ${accepted}`] : [],
  );
});

const numbers = VARIABLE_NAMES.flatMap((name) => {
  const [, minimum = "", maximum = ""] =
    /^a whole number from (\d+) to (\d+)$/.exec(VARIABLES[name].accepted) ?? [];
  return maximum === "" ? [] : [[name, minimum, maximum] as const];
});

test.each(numbers)("%s accepts %d to %d", (name, minimum, maximum) => {
  const texts = [minimum, maximum, String(Number(minimum) - 1), String(Number(maximum) + 1)];
  expect(texts.map((text) => isRejected(name, text))).toEqual([false, false, true, true]);
});

test("all errors are reported together, one per line", () => {
  const invalid = VARIABLE_NAMES.filter((name) => isRejected(name, invalidTextOf(name)));
  const variables = Object.fromEntries(invalid.map((name) => [name, invalidTextOf(name)]));
  expect(errorsOf(variables)).toEqual(
    invalid.map((name) => expect.stringMatching(new RegExp(`^${name}: .+; accepted: .+$`))),
  );
  expect(() => parse({ PORT: "x", HOST: "" })).toThrow(
    'HOST: is empty; accepted: a host name or an IP address\nPORT: "x" is not valid; accepted: a whole number from 0 to 65535',
  );
});

test("no message contains the value of a secret or a URL, which can contain a password", () => {
  const production = { NODE_ENV: "production", DATABASE_URL: "file:x" };
  const messages = [
    ...errorsOf({ ...production, AUTH_SECRET_KEY: "Hunter2", AUTH_SECRET_KEY_PREVIOUS: "Hunter2" }),
    ...errorsOf({ ...production, AUTH_SECRET_KEY: "changeme-Hunter2-0123456789abcdefghijkl" }),
    ...errorsOf({ DATABASE_URL: "mysql://u:Hunter2@h/d", REDIS_URL: "redis://u:Hunter2 @h" }),
    ...errorsOf({ DATABASE_URL: "postgres://u:Hunter2@h/d?sslmode=Hunter2" }),
    ...errorsOf({ REDIS_URL: "redis://u:12/Hunter2@h" }),
    ...errorsOf({ REDIS_URL: "redis://u:Hunter2@[" }),
    ...errorsOf({ AUTH_SECRET_KEY_FILE: "/Hunter2", AUTH_SECRET_KEY: "Hunter2" }),
    ...parse({ AUTH_SECRET_KEY: "Hunter2", AUTH_SECRET_KEY_PREVIOUS: "Hunter2" }).warnings,
    ...parse({ DATABASE_URL: "postgres://u:Hunter2@h/d", AUTH_SECRET_KEY: SECRET_KEY }).warnings,
    ...parse({ REDIS_URL: "redis://u:Hunter2@h" }).warnings,
  ];
  expect(messages).toHaveLength(13);
  expect(messages.join("\n")).not.toContain("unter2");
});

test("an invalid sslmode is reported with the supported ones", () => {
  for (const query of ["sslmode=foo", "sslmode=require&sslmode=disable"]) {
    expect(errorsOf({ DATABASE_URL: `postgres://h/d?${query}`, AUTH_SECRET_KEY: SECRET_KEY })).toEqual([
      "DATABASE_URL: contains an unsupported or repeated sslmode; " +
        "accepted: one of sslmode=disable, allow, prefer, require, verify-ca, verify-full",
    ]);
  }
});

test("METRICS_PORT must differ from PORT", () => {
  for (const ports of [{ METRICS_PORT: "3000" }, { METRICS_PORT: "8080", PORT: "8080" }]) {
    expect(errorsOf(ports)).toEqual(["METRICS_PORT: is the same as PORT; accepted: another port"]);
  }
  expect(errorsOf({ METRICS_PORT: "0", PORT: "0" })).toEqual([]);
  expect(errorsOf({ METRICS_PORT: "3000", PORT: "x" })).toEqual([expect.stringMatching(/^PORT: /)]);
});

test("a program can read some variables and ignores errors of the others", () => {
  const variables = { PORT: "x", HASH_WORKERS: "2", NODE_ENV: "production" };
  expect(parseVariables(["HASH_WORKERS", "HASH_KERNEL"], variables, options)).toEqual({
    HASH_WORKERS: 2,
    HASH_KERNEL: "auto",
  });
  expect(() => parseVariables(["DATABASE_URL"], variables, options)).toThrow(
    "DATABASE_URL: is required in production; accepted: file:PATH, postgres://… or postgresql://…",
  );
});

test("a value that ends at an unquoted # in .env gets a hint, whether the rest is valid or not", () => {
  const file = `
    export MAIL_RESET_URL = https://app.example.com/reset#token={token}
    AUTH_ISSUER=a#b
    AUTH_AUDIENCE=b # a comment
    HOST="h#i"
    PORT=1#2
  `;
  const variables = { AUTH_ISSUER: "a", AUTH_AUDIENCE: "b", HOST: "h#i", PORT: "12" };
  const readFile = (path: string) => (path === ".env" ? file : options.readFile(path));
  const issuer = "AUTH_ISSUER ends at a # in .env; write its value in quotes";
  expect(parseEnvironment(variables, { readFile }).warnings).toEqual([issuer]);
  const cut = { ...variables, MAIL_RESET_URL: "https://app.example.com/reset" };
  expect(linesOf(() => parseEnvironment(cut, { readFile }))).toEqual([
    expect.stringMatching(/^MAIL_RESET_URL: .* is not valid; accepted: /),
    issuer.replace("AUTH_ISSUER", "MAIL_RESET_URL"),
    issuer,
  ]);
});

test.each<[origins: string, rpId: string | undefined, invalid: string]>([
  ["https://app.example.com", undefined, ""],
  ["https://app.example.com,https://www.example.com", "example.com", ""],
  ["http://localhost:3000", undefined, ""],
  ["", undefined, "PASSKEY_ORIGINS"],
  ["*", undefined, "PASSKEY_ORIGINS"],
  ["https://192.0.2.1", undefined, "PASSKEY_ORIGINS"],
  ["http://app.example.com", undefined, "PASSKEY_ORIGINS"],
  ["https://app.example.com", "", "PASSKEY_RP_ID"],
  ["https://app.example.com", "ample.com", "PASSKEY_RP_ID"],
  ["https://app.example.com,https://other.example", undefined, "PASSKEY_RP_ID"],
])("passkeys of %s with the domain %s", (PasskeyOrigins, rpId, invalid) => {
  const errors = errorsOf({
    PASSKEY_ORIGINS: PasskeyOrigins,
    ...(rpId !== undefined && { PASSKEY_RP_ID: rpId }),
  });
  expect(errors.map((line) => line.slice(0, line.indexOf(":")))).toEqual(invalid === "" ? [] : [invalid]);
});
