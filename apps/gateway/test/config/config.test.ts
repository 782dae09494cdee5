/** Every variable absent, empty, malformed and out of range; what production refuses; that secrets stay secret. */
import { describe, expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { ConfigurationError, parseConfig } from "../../src/config/config.ts";
import { Environment, type EnvironmentName } from "../../src/config/environment.ts";

type Variables = Readonly<Record<string, string>>;

const context = {
  kernels: ["portable", "fast"],
  isTerminal: false,
  readFile: (path: string): string => {
    throw new Error(`Nothing may be read, and not ${path}`);
  },
};
const parse = (variables: Variables, options: Partial<typeof context> = {}) =>
  parseConfig(variables, { ...context, ...options });

function faultsOf(variables: Variables, options: Partial<typeof context> = {}): readonly string[] {
  try {
    parse(variables, options);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

const NUMBERS = [
  "-1",
  "+1",
  "1.5",
  "1e1",
  "0x10",
  "01",
  "١",
  " 1",
  "1 ",
  "1,000",
  "abc",
  "NaN",
  "99999999999999999999",
];
const QUOTAS = [
  "5",
  "5/",
  "/minute",
  "0/minute",
  "-5/minute",
  "5.5/minute",
  "05/minute",
  "5/day",
  "5/Minute",
];
const WORDS = ["true ", "yes", "1"];

/** What each variable takes, and what it does not beside the empty text. */
const VALUES: Readonly<Record<EnvironmentName, { accepted: readonly string[]; refused: readonly string[] }>> =
  {
    NODE_ENV: { accepted: ["development", "test"], refused: ["prod", "Production", "production "] },
    HOST: { accepted: ["0.0.0.0", "::", "localhost"], refused: [" ", "a b", "\n"] },
    PORT: { accepted: ["0", "1", "65535"], refused: [...NUMBERS, "65536"] },
    DATABASE_URL: {
      accepted: ["file:x.db", "file:/var/lib/x.db", "postgres://h/d", "postgresql://u:p@h:5432/d"],
      refused: ["file:", "postgres://", "mysql://h/d", "x.db", " file:x", "http://h", "FILE:x"],
    },
    DATABASE_POOL_SIZE: { accepted: ["1", "1000"], refused: [...NUMBERS, "0", "1001"] },
    AUTH_SECRET_KEY: { accepted: [SECRET_KEY, "short"], refused: [] },
    AUTH_SECRET_KEY_PREVIOUS: { accepted: [SECRET_KEY, "x"], refused: [] },
    AUTH_ALGORITHM: { accepted: ["HS256", "HS384", "HS512"], refused: ["none", "hs256", "RS256", "HS1024"] },
    AUTH_TOKEN_EXPIRE_MINUTES: { accepted: ["1", "525600"], refused: [...NUMBERS, "0", "525601"] },
    CORS_ORIGINS: {
      accepted: [
        "",
        "*",
        "https://a.example",
        "http://localhost:3000, https://a.example",
        ",https://a.example,",
      ],
      refused: [
        "a.example",
        "https://a.example/",
        "https://a.example/x",
        "https://A.example",
        "*,https://a.example",
        "null",
      ],
    },
    TRUST_PROXY: { accepted: ["0", "1", "32"], refused: [...NUMBERS, "33", "true"] },
    RATE_LIMIT_ENABLED: { accepted: ["true", "false"], refused: [...WORDS, "TRUE", "0", "no"] },
    RATE_LIMIT_DEFAULT: { accepted: ["1/second", "999999999/hour"], refused: [...QUOTAS, "1000000000/hour"] },
    RATE_LIMIT_LOGIN: { accepted: ["5/minute"], refused: QUOTAS },
    RATE_LIMIT_REGISTER: { accepted: ["3/hour"], refused: QUOTAS },
    RATE_LIMIT_PASSWORD_CHANGE: { accepted: ["5/hour"], refused: QUOTAS },
    REDIS_URL: {
      accepted: ["redis://h", "redis://h:6379/1", "rediss://u:p@h:6380"],
      refused: ["redis://", "http://h", "h:6379", "redis://a b", " redis://h"],
    },
    HASH_WORKERS: { accepted: ["1", "1024"], refused: [...NUMBERS, "0", "1025"] },
    HASH_QUEUE_LIMIT: { accepted: ["0", "1000000"], refused: [...NUMBERS, "1000001"] },
    HASH_KERNEL: { accepted: ["auto", "portable", "fast"], refused: ["Auto", "slow"] },
    HASH_NICE: { accepted: ["0", "19"], refused: [...NUMBERS, "20"] },
    LOG_LEVEL: {
      accepted: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      refused: ["INFO", "verbose"],
    },
    LOG_FORMAT: { accepted: ["json", "pretty"], refused: ["JSON", "text"] },
    METRICS_PORT: { accepted: ["0", "9464", "65535"], refused: [...NUMBERS, "65536", "3000"] },
    METRICS_HOST: { accepted: ["0.0.0.0", "::", "localhost"], refused: [" ", "a b", "\n"] },
    SHUTDOWN_GRACE_SECONDS: { accepted: ["0", "3600"], refused: [...NUMBERS, "3601"] },
    SHUTDOWN_DELAY_SECONDS: { accepted: ["0", "3600"], refused: [...NUMBERS, "3601"] },
  };
const NAMES = Object.keys(Environment.properties) as EnvironmentName[];

test("with nothing set every default is the documented one", () => {
  expect(parse({})).toEqual({
    environment: "development",
    host: "127.0.0.1",
    port: 3000,
    database: { url: "file:./data/latchkey.db", poolSize: 10 },
    auth: { secretKey: null, previousSecretKey: null, algorithm: "HS256", tokenExpireMinutes: 60 },
    corsOrigins: "*",
    trustProxy: 0,
    rateLimits: {
      default: { limit: 6000, windowMs: 60_000, text: "6000 per 1 minute" },
      login: { limit: 5, windowMs: 60_000, text: "5 per 1 minute" },
      register: { limit: 3, windowMs: 60_000, text: "3 per 1 minute" },
      passwordChange: { limit: 5, windowMs: 60_000, text: "5 per 1 minute" },
    },
    redisUrl: null,
    hash: { workers: null, queueLimit: null, kernel: "auto", nice: 5 },
    log: { level: "info", format: "json" },
    metrics: null,
    shutdown: { graceSeconds: 10, delaySeconds: 0 },
    warnings: [],
  });
  expect(parse({}, { isTerminal: true }).log.format).toBe("pretty");
});

test("a configuration is frozen through and through, and unknown variables are no business of it", () => {
  const config = parse({ PATH: "/bin", AUTH_ALGORITHMS: "none", CORS_ORIGINS: "https://a.example" });
  for (const part of [config, config.auth, config.rateLimits?.login, config.corsOrigins, config.warnings]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

describe.each(NAMES)("%s", (name) => {
  const { accepted, refused } = VALUES[name];
  const secret = name === "DATABASE_URL" ? { AUTH_SECRET_KEY: SECRET_KEY } : {};

  test("is taken with each accepted value", () => {
    for (const value of accepted)
      expect([value, faultsOf({ ...secret, [name]: value })]).toEqual([value, []]);
  });

  test("is one fault, by name and with what is accepted, when it is malformed or out of range", () => {
    for (const value of refused) {
      const [fault = "", ...others] = faultsOf({ ...secret, [name]: value });
      expect([value, others]).toEqual([value, []]);
      expect(fault).toMatch(new RegExp(`^${name}: .+accepted: .+$`));
      expect(fault).not.toContain("\n");
    }
  });

  test("is one fault when it is empty, unless empty means none", () => {
    const faults = faultsOf({ ...secret, [name]: "" });
    expect(faults).toHaveLength(accepted.includes("") ? 0 : 1);
    for (const fault of faults)
      expect(fault).toMatch(new RegExp(`^${name}: (is empty|"" cannot run here); accepted: `));
  });
});

test("every fault is reported at once, a line each, by name", () => {
  const faulty = NAMES.filter((name) => VALUES[name].refused.length > 0 && name !== "NODE_ENV");
  const variables = Object.fromEntries(faulty.map((name) => [name, VALUES[name].refused[0] ?? ""]));
  const faults = faultsOf({ NODE_ENV: "production", ...variables });
  expect(faults.map((fault) => fault.split(":")[0]).sort()).toEqual([...faulty, "AUTH_SECRET_KEY"].sort());
  expect(() => parse({ PORT: "x", HOST: "" })).toThrow(
    /^HOST: [^\n]+\nPORT: [^\n]+$|^PORT: [^\n]+\nHOST: [^\n]+$/,
  );
});

test("no message holds the value of a secret, nor of a database URL, which may have a password in it", () => {
  const faults = [
    ...faultsOf({
      NODE_ENV: "production",
      AUTH_SECRET_KEY: "Hunter2",
      DATABASE_URL: "mysql://u:Hunter2@h/d",
    }),
    ...faultsOf({ NODE_ENV: "production", AUTH_SECRET_KEY: "changeme-Hunter2-0123456789abcdefghijkl" }),
    ...faultsOf({ DATABASE_URL: "postgres://u:Hunter2@h/d", REDIS_URL: "redis://u:Hunter2 @h" }),
    ...faultsOf({ AUTH_SECRET_KEY_FILE: "/Hunter2", AUTH_SECRET_KEY: "Hunter2" }),
    ...parse({ AUTH_SECRET_KEY: "Hunter2", AUTH_SECRET_KEY_PREVIOUS: "Hunter2" }).warnings,
  ];
  expect(faults.length).toBeGreaterThan(5);
  expect(faults.join("\n")).not.toContain("unter2");
});

test("METRICS_PORT opens a listener of its own, and the port of the service is no such port", () => {
  expect(parse({ METRICS_PORT: "9464", METRICS_HOST: "0.0.0.0" }).metrics).toEqual({
    host: "0.0.0.0",
    port: 9464,
  });
  expect(parse({ METRICS_HOST: "0.0.0.0" }).metrics).toBeNull();
  for (const ports of [{ METRICS_PORT: "3000" }, { METRICS_PORT: "8080", PORT: "8080" }]) {
    expect(faultsOf(ports)).toEqual([
      expect.stringMatching(/^METRICS_PORT: is the PORT of the service itself;/),
    ]);
  }
  expect(faultsOf({ METRICS_PORT: "0", PORT: "0" })).toEqual([]);
  expect(faultsOf({ METRICS_PORT: "3000", PORT: "x" })).toEqual([expect.stringMatching(/^PORT: /)]);
});

test("RATE_LIMIT_ENABLED=false turns every limit off", () => {
  expect(parse({ RATE_LIMIT_ENABLED: "false" }).rateLimits).toBeNull();
});

test("origins are split at commas, without the blanks around them", () => {
  const { corsOrigins } = parse({ CORS_ORIGINS: " https://a.example , http://localhost:5173," });
  expect(corsOrigins).toEqual(["https://a.example", "http://localhost:5173"]);
  expect(parse({ CORS_ORIGINS: "" }).corsOrigins).toEqual([]);
});
