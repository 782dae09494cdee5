/** Accepted but insecure values: each causes one warning, which never contains a password. */
import { expect, test } from "bun:test";
import { createKeyPair, SECRET_KEY } from "@latchkey/testing/keys";
import { isPublicAddress, leavesMachine } from "../src/network.ts";
import type { Variables } from "../src/parse.ts";
import { errorsOf, parse } from "./support/parse.ts";

const BASE = { AUTH_SECRET_KEY: SECRET_KEY };
const PRODUCTION = { NODE_ENV: "production", DATABASE_URL: "postgres://localhost/d", TODOS_ENABLED: "false" };
const METRICS = { METRICS_PORT: "9464" };
const MAIL = {
  MAIL_URL: "smtp://u:Hunter2@mail.example.com",
  MAIL_FROM: "accounts@example.com",
  PUBLIC_URL: "https://a.example",
};
const CA = "/run/ca.pem";

const warningsOf = (variables: Variables) =>
  parse({ ...BASE, ...variables }, { files: { [CA]: "certificate" } }).warnings;

function expectWarning(name: string, insecure: Variables, secure: Variables): void {
  const warnings = warningsOf(insecure);
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} .+[^.]$`))]);
  expect(warnings.join()).not.toContain("Hunter2");
  expect(warningsOf(secure)).toEqual([]);
}

test.each([
  ["DATABASE_URL", "postgres://u:Hunter2@db.example.com/d", "postgres://db.example.com/d?sslmode=require"],
  ["DATABASE_URL", "postgres://10.0.0.7/d?sslmode=prefer", "postgres://10.0.0.7/d?sslmode=verify-ca"],
  ["DATABASE_URL", "postgres://[2001:db8::7]/d?sslmode=disable", `postgres://10.0.0.7/d?sslrootcert=${CA}`],
  ["DATABASE_URL", "postgres://db/d?options=sslmode=require", "postgres://db/d?path=/run/postgresql"],
  ["DATABASE_URL", "postgres://db/d", "postgres://u:Hunter2@db/d?host=/run/postgresql"],
  ["DATABASE_URL", "postgres://db/d?application_name=x", "postgres://u:Hunter2@%2Frun%2Fpostgresql/d"],
  ["REDIS_URL", "redis://u:Hunter2@valkey:6379", "rediss://u:Hunter2@valkey:6379"],
  ["REDIS_URL", "redis://10.0.0.7", "redis://127.0.0.1:6379"],
  ["RATE_LIMIT_ENABLED", "false", "true"],
  ["AUTH_TOKEN_EXPIRE_MINUTES", "1441", "1440"],
  ["METRICS_HOST", "::", "10.0.0.7"],
  ["MAIL_URL", "smtp://u:Hunter2@mail.example.com?tls=off", "smtp://u:Hunter2@mail.example.com"],
  ["PUBLIC_URL", "http://a.example", "http://127.0.0.1:3000"],
  ["MAIL_RESET_URL", "https://a.example/reset?token={token}", "https://a.example/#/reset?token={token}"],
  ["MAIL_VERIFICATION_URL", "https://a.example/{token}#verify", "https://a.example/verify#{token}"],
])("%s: %s causes a warning, %s does not", (name, insecure, secure) => {
  const others = { ...METRICS, ...MAIL };
  expectWarning(name, { ...others, [name]: insecure }, { ...others, [name]: secure });
});

test.each<[name: string, value: string, others: Variables]>([
  ["DATABASE_URL", "file:x.db", PRODUCTION],
  ["CORS_ORIGINS", "*", PRODUCTION],
  ["METRICS_HOST", "0.0.0.0", METRICS],
  ["AUTH_REQUIRE_CURRENT_PASSWORD", "false", { AUTH_EMAIL_CHANGE: "true" }],
  ["AUTH_REQUIRE_CURRENT_PASSWORD", "false", { PASSKEY_ORIGINS: "https://app.example.com" }],
  ["TODOS_ENABLED", "true", PRODUCTION],
  ["AUTH_SECRET_KEY_PREVIOUS", `${SECRET_KEY}2`, { AUTH_RENEWAL_DAYS: "1" }],
  ["AUTH_PREVIOUS_PUBLIC_KEY", createKeyPair("EdDSA").publicPem, { AUTH_RENEWAL_DAYS: "1" }],
])("%s=%s causes a warning only if other variables make it insecure", (name, value, others) => {
  expectWarning(name, { ...others, [name]: value }, { [name]: value });
});

test("all interfaces and global addresses are public", () => {
  const addresses = ["0.0.0.0", "::", "8.8.8.8", "2001:4860::1", "::ffff:8.8.8.8"];
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
  const others = ["127.0.0.1", "::1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1"];
  others.push("fd00::1", "fe80::1", "::ffff:10.0.0.1", "localhost", "metrics.internal");
  expect(others.filter(isPublicAddress)).toEqual([]);
});

test("only loopback addresses are on this machine", () => {
  const local = ["localhost", "LOCALHOST", "db.localhost", "127.0.0.1", "127.8.8.8", "[::1]"];
  expect(local.filter((host) => leavesMachine(`redis://${host}:6379`))).toEqual([]);
  const remote = ["db", "localhost.example.com", "10.0.0.7", "0.0.0.0", "[fd00::1]", "128.0.0.1"];
  expect(remote.filter((host) => !leavesMachine(`redis://${host}:6379`))).toEqual([]);
});

test.each([
  ["AUTH_TOKEN_EXPIRES_MINUTES", "AUTH_TOKEN_EXPIRE_MINUTES"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["AUTH_SECRETKEY_FILE", "AUTH_SECRET_KEY_FILE"],
])("a variable with almost the name of another one is reported with that name: %s", (unknown, known) => {
  const warning = `${unknown} is not a variable of the service; did you mean ${known}?`;
  expect(warningsOf({ [unknown]: "Hunter2" })).toEqual([warning]);
  expect(errorsOf({ [unknown]: "Hunter2", PORT: "x" })).toEqual([expect.stringMatching(/^PORT: /), warning]);
});

test("variables of other programs are not reported", () => {
  const others = { HOME: "/", HOSTNAME: "a", POSTGRES_PASSWORD: "b", REDIS_PORT: "1", COMPOSE_PROFILES: "c" };
  expect(warningsOf({ ...others, PATH: "/bin", LATCHKEY_PORT: "tcp://10.0.0.1:80" })).toEqual([]);
});

test("the current password is required by default if a feature gives the account to whoever has the password", () => {
  const origin = "https://app.example.com";
  const isRequired = (variables: Variables) =>
    parse({ ...BASE, ...variables }).values.AUTH_REQUIRE_CURRENT_PASSWORD;
  for (const features of [{ AUTH_EMAIL_CHANGE: "true" }, { PASSKEY_ORIGINS: origin }]) {
    expect(isRequired(features)).toBe(true);
    expect(isRequired({ ...features, AUTH_REQUIRE_CURRENT_PASSWORD: "false" })).toBe(false);
  }
  for (const others of [{}, { AUTH_EMAIL_CHANGE: "false" }]) expect(isRequired(others)).toBe(false);
});
