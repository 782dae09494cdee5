/** Every variable: its default, an invalid value, and how errors are reported. The variables come from the definitions. */
import { expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { localUrl } from "../src/network.ts";
import { parseVariables } from "../src/parse.ts";
import { VARIABLE_NAMES, validateKernel } from "../src/variables.ts";
import { errorsOf, parse } from "./support/parse.ts";

const checks = { HASH_KERNEL: validateKernel(["portable"]) };

test("the log of a terminal is pretty, and the defaults cause no warning", () => {
  const { values, warnings } = parse({});
  expect([values.LOG_FORMAT, warnings]).toEqual(["json", []]);
  expect(parse({}, { isTerminal: true }).values.LOG_FORMAT).toBe("pretty");
});

test("variables that are not defined have no effect", () => {
  const { values } = parse({ PATH: "/bin", AUTH_ALGORITHMS: "none", PORT_FILE: "/run/port" });
  expect(values).toEqual(parse({}).values);
});

test("all errors are reported together, one per line, with what is accepted", () => {
  const errors = ["", "http://invalid value/"].flatMap((text) => {
    const lines = errorsOf(Object.fromEntries(VARIABLE_NAMES.map((name) => [name, text])), { checks });
    for (const line of lines) expect(line).toMatch(/^[A-Z_]+: .+; accepted: .+$/);
    return lines.map((line) => line.slice(0, line.indexOf(":")));
  });
  expect(VARIABLE_NAMES.filter((name) => !errors.includes(name))).toEqual([]);
  expect(errorsOf({ PORT: "x", HOST: "" })).toEqual([
    "HOST: is empty; accepted: a host name or an IP address",
    'PORT: "x" is not valid; accepted: a whole number from 0 to 65535',
  ]);
});

test("no message contains the value of a secret or a URL, which can contain a password", () => {
  const messages = [
    ...errorsOf({ DATABASE_URL: "mysql://u:Hunter2@h/d", REDIS_URL: "redis://u:Hunter2 @h" }),
    ...errorsOf({ DATABASE_URL: "postgres://u:Hunter2@h/d?sslmode=Hunter2" }),
    ...errorsOf({ REDIS_URL: "redis://u:12/Hunter2@h" }),
    ...errorsOf({ REDIS_URL: "redis://u:Hunter2@[" }),
  ];
  expect(messages).toHaveLength(5);
  expect(messages.join("\n")).not.toContain("unter2");
});

test("an invalid sslmode is reported with the supported ones", () => {
  for (const query of ["sslmode=", "sslmode=REQUIRE", "sslmode=no-verify", "sslmode=allow&sslmode=allow"]) {
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

test("ADMIN_PORT must differ from PORT and METRICS_PORT, and requires keys, which no message contains", () => {
  const key = "k".repeat(32);
  const keys = { ADMIN_API_KEYS: `shop:${key}, shop:${key}1,crm_2:${key}_-` };
  for (const port of ["3000", "9464"])
    expect(errorsOf({ ...keys, METRICS_PORT: "9464", ADMIN_PORT: port })).toEqual([
      `ADMIN_PORT: is the same as ${port === "3000" ? "PORT" : "METRICS_PORT"}; accepted: another port`,
    ]);
  expect(errorsOf({ ...keys, ADMIN_PORT: "0", METRICS_PORT: "0", PORT: "0" })).toEqual([]);
  expect(errorsOf({ ADMIN_PORT: "3001" })).toEqual([expect.stringMatching(/^ADMIN_API_KEYS: is required/)]);
  for (const name of ["ADMIN_API_KEYS", "ADMIN_READ_KEYS", "ADMIN_EVENT_KEYS"])
    expect(errorsOf({ ADMIN_PORT: "3001", [name]: `shop:${key}` })).toEqual([]);
  // One key cannot have the rights of two variables.
  const events = { ADMIN_READ_KEYS: `mirror:${key}x`, ADMIN_EVENT_KEYS: `other:${key}y,mirror:${key}x` };
  expect(errorsOf({ ...keys, ...events })).toEqual([
    "ADMIN_EVENT_KEYS: contains a key of ADMIN_READ_KEYS; accepted: keys that no other variable contains",
  ]);
  const names = ["shop", "shop", "crm_2"];
  expect(parse(keys).values.ADMIN_API_KEYS?.map(({ name }) => name)).toEqual(names);
  for (const text of [key, `shop:${key.slice(1)}`, `shop:${key}!`, `:${key}`, `a b:${key}`, `shop:${key},`]) {
    const [line = "", ...others] = errorsOf({ ADMIN_API_KEYS: text });
    expect([line.startsWith("ADMIN_API_KEYS: has an unsupported value"), others]).toEqual([true, []]);
    expect(line).not.toContain("kkk");
  }
});

test("a program can read some variables and ignores errors of the others", () => {
  const variables = { PORT: "x", HASH_WORKERS: "2", NODE_ENV: "production" };
  expect(parseVariables(["HASH_WORKERS", "HASH_KERNEL"], variables, { readFile: String, checks })).toEqual({
    HASH_WORKERS: 2,
    HASH_KERNEL: "auto",
  });
  expect(() => parseVariables(["DATABASE_URL"], variables, { readFile: String })).toThrow(
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
    PRODUCT_NAME=Tom # Jerry
  `;
  const variables = { AUTH_ISSUER: "a", AUTH_AUDIENCE: "b", HOST: "h#i", PORT: "12", PRODUCT_NAME: "Tom" };
  const files = { ".env": file };
  const issuer = "AUTH_ISSUER ends at a # in .env; write its value in quotes";
  const product = issuer.replace("AUTH_ISSUER", "PRODUCT_NAME");
  expect(parse(variables, { files }).warnings).toEqual([issuer, product]);
  const cut = { ...variables, MAIL_RESET_URL: "https://app.example.com/reset" };
  expect(errorsOf(cut, { files })).toEqual([
    expect.stringMatching(/^MAIL_RESET_URL: .* is not valid; accepted: /),
    issuer.replace("AUTH_ISSUER", "MAIL_RESET_URL"),
    issuer,
    product,
  ]);
});

test("a value with a $ that Bun replaces in .env gets a hint, unless the environment has another value", () => {
  const file = `
    # HOST='a$b'
    DATABASE_URL='postgres://u:pa$word9@h/d'
    AUTH_ISSUER=a\\$b
    AUTH_AUDIENCE="a\\$b $5"
    PRODUCT_NAME='costs 5 $'
    REDIS_URL=redis://:\${SECRET}@h
    export MAIL_FROM: \`$x@example.com\`
    PORT=$PORT
  `;
  const variables = {
    ...{
      DATABASE_URL: "postgres://u:pa@h/d",
      AUTH_ISSUER: "a$b",
      AUTH_AUDIENCE: "a$b-",
      REDIS_URL: "rediss://h",
    },
    ...{ PRODUCT_NAME: "costs 5 $", MAIL_FROM: "a@example.com", AUTH_SECRET_KEY: SECRET_KEY },
  };
  const hints = parse(variables, { files: { ".env": file } }).warnings.filter((text) => text.includes("$"));
  const hint = " contains a $ in .env, which starts the name of a variable, also in single quotes; write \\$";
  expect(hints).toEqual(["DATABASE_URL", "AUTH_AUDIENCE", "MAIL_FROM"].map((name) => name + hint));
});

test.each([
  ["HOST", ["::1", "[::1]", "0.0.0.0", "localhost", "db-1.internal."], ["*", "127.0.0.1:80", "[127.0.0.1]"]],
  ["HOST", ["fe80::1%eth0"], ["", "[::1]:80", "localhost:80", "a b", "http://localhost", "[::1"]],
  ["METRICS_HOST", ["[::1]"], ["*"]],
  ["IDLE_TIMEOUT_SECONDS", ["0", "10", "255"], ["9", "256", "-1", "", "10s"]],
  ["TODOS_ENABLED", ["true", "false"], ["1", ""]],
] as const)("%s accepts %j and rejects %j", (name, accepted, rejected) => {
  for (const value of accepted) expect(errorsOf({ [name]: value })).toEqual([]);
  for (const value of rejected)
    expect(errorsOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: `)]);
});

test.each([
  ["[::1]", "http://[::1]:80"],
  ["::", "http://[::1]:80"],
  ["0.0.0.0", "http://127.0.0.1:80"],
  ["192.0.2.1", "http://192.0.2.1:80"],
  ["localhost", "http://localhost:80"],
])("a server on HOST=%s is opened at %s", (host, url) => {
  expect(localUrl(parse({ HOST: host }).values.HOST, 80)).toBe(url);
});

test.each<[origins: string, rpId: string | undefined, ...invalid: string[]]>([
  ["https://app.example.com", undefined],
  ["https://app.example.com,https://www.example.com", "example.com"],
  ["http://localhost:3000", undefined],
  ["", undefined, "PASSKEY_ORIGINS"],
  ["*", undefined, "PASSKEY_ORIGINS"],
  ["https://*.example.com", "example.com", "PASSKEY_ORIGINS"],
  ["capacitor://localhost", undefined, "PASSKEY_ORIGINS"],
  ["https://192.0.2.1", undefined, "PASSKEY_ORIGINS"],
  ["http://app.example.com", undefined, "PASSKEY_ORIGINS"],
  ["https://app.example.com", "", "PASSKEY_RP_ID"],
  ["https://app.example.com", "ample.com", "PASSKEY_RP_ID"],
  ["https://app.example.com", "com", "PASSKEY_RP_ID"],
  ["https://intranet", undefined, "PASSKEY_RP_ID"],
  ["https://app.example.com,https://other.example", undefined, "PASSKEY_RP_ID"],
])("passkeys of %s with the domain %s", (origins, rpId, ...invalid) => {
  const errors = errorsOf({ PASSKEY_ORIGINS: origins, PASSKEY_RP_ID: rpId });
  expect(errors.map((line) => line.slice(0, line.indexOf(":")))).toEqual(invalid);
});

test("an IP address as the origin of passkeys names localhost", () => {
  for (const PASSKEY_ORIGINS of ["http://127.0.0.1:3000", "http://[::1]:3000"])
    expect(errorsOf({ PASSKEY_ORIGINS })).toEqual([
      expect.stringMatching(/^PASSKEY_ORIGINS: contains an IP address, .* use localhost; accepted: /),
    ]);
});
