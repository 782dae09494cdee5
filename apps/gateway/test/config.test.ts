/** The Config that variables become; `packages/config` tests the variables themselves. */
import { expect, test } from "bun:test";
import { ConfigurationError, openPasswordBlocklist, VARIABLES } from "@latchkey/config";
import { createHasher, kernels } from "@latchkey/hashing";
import { checkConfig, parseConfig } from "../src/config.ts";

const context = {
  kernels: ["portable"],
  isTerminal: false,
  readFile: (path: string): string => {
    throw new Error(`ENOENT: ${path}`);
  },
};
const parse = (variables: Readonly<Record<string, string>>) => parseConfig(variables, context);

test("the hasher chooses the number of workers and the queue limit unless they are set", () => {
  const hash = { queueSeconds: 5, kernel: "auto", nice: 5 };
  expect<object>(parse({}).hash).toEqual(hash);
  const set = { HASH_WORKERS: "3", HASH_QUEUE_LIMIT: "7" };
  expect<object>(parse(set).hash).toEqual({ ...hash, workers: 3, queueLimit: 7 });
});

test("--check-config prints no character that controls a terminal or reverses the direction of text", () => {
  const CORS_ORIGINS = "https://a.example,\u2028https://b.example";
  const { values } = checkConfig({ PRODUCT_NAME: "a\u202eb\u200bc", CORS_ORIGINS }, context);
  expect(values).toContain("\nPRODUCT_NAME=a\\u202eb\\u200bc\n");
  expect(values).toContain("\nCORS_ORIGINS=https://a.example,\\u2028https://b.example\n");
});

test("the configuration is frozen, with everything in it", () => {
  const config = parse({ CORS_ORIGINS: "https://a.example" });
  for (const part of [config, config.tokens, config.rateLimits?.login, config.corsOrigins, config.warnings]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

test("a URL that the database package does not support is an error, as are a missing blocklist and an unsupported kernel", async () => {
  const PASSWORD_BLOCKLIST = "/no/such/file";
  const variables = { DATABASE_URL: "file:x.db?mode=memory", PASSWORD_BLOCKLIST, HASH_KERNEL: "fast" };
  const blocklist = await openPasswordBlocklist(PASSWORD_BLOCKLIST);
  for (const read of [parseConfig, checkConfig]) {
    expect(() => read(variables, { ...context, blocklist })).toThrow(ConfigurationError);
    expect(() => read(variables, { ...context, blocklist })).toThrow(
      /^DATABASE_URL: is not supported: .+\nPASSWORD_BLOCKLIST: .+ cannot be read; accepted: .+\nHASH_KERNEL: "fast" .+$/,
    );
  }
});

test("the definition of HASH_KERNEL names every kernel of this machine", () => {
  const names = VARIABLES.HASH_KERNEL.accepted.split(/[:,]? /);
  expect(names).toEqual(expect.arrayContaining(kernels().map(({ name }) => name)));
});

test.each([
  ["HASH_WORKERS", { workers: -1 }],
  ["HASH_QUEUE_LIMIT", { queueLimit: -1 }],
  ["HASH_QUEUE_SECONDS", { queueSeconds: -1 }],
  ["HASH_NICE", { nice: -1 }],
] as const)("the definition of %s has the bounds of the hasher", (name, options) => {
  const [bounds] = /from \d+ to \d+/.exec(VARIABLES[name].accepted) ?? ["none"];
  expect(() => createHasher(options)).toThrow(bounds);
});

test("the metrics server has its own address, and does not exist without METRICS_PORT", () => {
  const METRICS_HOST = "10.0.0.7";
  expect(parse({ METRICS_PORT: "9464", METRICS_HOST }).metrics).toEqual({ host: METRICS_HOST, port: 9464 });
  expect(parse({ METRICS_HOST }).metrics).toBeNull();
});
