/** What production requires, the same as a warning elsewhere, and secrets that are read from files. */
import { describe, expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { Variables } from "../src/parse.ts";
import { weaknessOf } from "../src/secret-strength.ts";
import { VARIABLES } from "../src/variables.ts";
import { errorsOf as errorsFrom, parse as parseFrom } from "./support/parse.ts";

const FILES: Readonly<Record<string, string>> = {
  "/run/key": `${SECRET_KEY}\n`,
  "/run/key-crlf": `${SECRET_KEY}\r\n`,
  "/run/empty": "",
  "/run/url": "postgres://u:Hunter2@h/d\n",
};

const parse = (variables: Variables) => parseFrom(variables, { files: FILES });
const errorsOf = (variables: Variables) => errorsFrom(variables, { files: FILES });

const KEYS = ["AUTH_SECRET_KEY", "AUTH_SECRET_KEY_PREVIOUS"] as const;
const PRODUCTION = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://localhost/d",
  AUTH_SECRET_KEY: SECRET_KEY,
};

test.each([
  ["HS256", 32],
  ["HS384", 48],
  ["HS512", 64],
] as const)("a key for %s has at least %d bytes, which are counted, not characters", (algorithm, bytes) => {
  const short = `is shorter than the ${bytes} bytes that ${algorithm} requires`;
  const key = `ß${SECRET_KEY}`;
  expect(weaknessOf(SECRET_KEY.slice(0, bytes), algorithm)).toBeNull();
  expect(weaknessOf(SECRET_KEY.slice(0, bytes - 1), algorithm)).toBe(short);
  expect(weaknessOf(key.slice(0, bytes - 1), algorithm)).toBeNull();
  expect(weaknessOf(key.slice(0, bytes - 2), algorithm)).toBe(short);
});

test("a key has at least 8 distinct characters, and contains no placeholder in any case", () => {
  expect(weaknessOf("abcdefg".repeat(10), "HS256")).toBe("has fewer than 8 distinct characters");
  expect(weaknessOf("abcdefgh".repeat(10), "HS256")).toBeNull();
  for (const word of ["changeme", "change-me", "your-secret", "replace-me", "example", "CHANGEME", "Example"])
    expect(weaknessOf(`${SECRET_KEY}${word}`, "HS256")).toBe("looks like a placeholder");
});

test.each(KEYS)("a weak %s is an error in production, elsewhere a warning, and never printed", (name) => {
  for (const [key, weakness] of [
    ["Hunter2", "is shorter than the 64 bytes that HS512 requires"],
    [`changeme${SECRET_KEY}`, "looks like a placeholder"],
    ["abcdefg".repeat(10), "has fewer than 8 distinct characters"],
  ] as const) {
    const variables = { AUTH_ALGORITHM: "HS512", [name]: key };
    const { accepted } = VARIABLES[name];
    expect(errorsOf({ ...PRODUCTION, ...variables })).toEqual([
      `${name}: ${weakness}; accepted: ${accepted}`,
    ]);
    const { values, warnings } = parse({ NODE_ENV: "test", ...variables });
    expect([values[name], warnings]).toEqual([key, [`${name} ${weakness}; production rejects it`]]);
  }
});

test("in production, a PostgreSQL URL and a strong secret are required and enough, and no origin is allowed by default", () => {
  const { values, warnings } = parse({ ...PRODUCTION, TODOS_ENABLED: "false" });
  expect(values).toMatchObject({ AUTH_SECRET_KEY: SECRET_KEY, CORS_ORIGINS: [] });
  expect(warnings).toEqual([]);
  expect(errorsOf({ NODE_ENV: "production" })).toEqual([
    expect.stringMatching(/^DATABASE_URL: is required in production; accepted: /),
    expect.stringMatching(/^AUTH_SECRET_KEY: is required in production; accepted: /),
  ]);
});

test("elsewhere, a missing secret is an error with PostgreSQL only", () => {
  expect(parse({ DATABASE_URL: "file:x.db" }).values.AUTH_SECRET_KEY).toBeNull();
  expect(errorsOf({ NODE_ENV: "test", DATABASE_URL: "postgresql://h/d" })).toEqual([
    expect.stringMatching(/^AUTH_SECRET_KEY: is required with PostgreSQL; accepted: /),
  ]);
});

describe("secrets from files", () => {
  test("are the content of the file without the last line ending, and are checked like others", () => {
    for (const path of ["/run/key", "/run/key-crlf"]) {
      const { values } = parse({ AUTH_SECRET_KEY_FILE: path, AUTH_SECRET_KEY_PREVIOUS_FILE: path });
      expect([values.AUTH_SECRET_KEY, values.AUTH_SECRET_KEY_PREVIOUS]).toEqual([SECRET_KEY, SECRET_KEY]);
    }
    const { values, warnings } = parse({ DATABASE_URL_FILE: "/run/url", AUTH_SECRET_KEY: SECRET_KEY });
    expect(values.DATABASE_URL).toBe("postgres://u:Hunter2@h/d");
    expect(warnings).toEqual([expect.stringMatching(/^DATABASE_URL connects to another host /)]);
  });

  test.each([...KEYS, "DATABASE_URL", "REDIS_URL"])(
    "%s_FILE is an error if the file cannot be read or is empty, or if the variable is set too",
    (name) => {
      const others = name === "AUTH_SECRET_KEY" ? {} : { AUTH_SECRET_KEY: SECRET_KEY };
      for (const path of ["/run/missing", ""]) {
        expect(errorsOf({ ...others, [`${name}_FILE`]: path })).toEqual([
          `${name}_FILE: cannot be read; accepted: the path of a readable file`,
        ]);
      }
      expect(errorsOf({ ...others, [`${name}_FILE`]: "/run/empty" })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: is empty; accepted: `)),
      ]);
      expect(errorsOf({ ...others, [`${name}_FILE`]: "/run/key", [name]: "file:x" })).toEqual([
        `${name}_FILE: cannot be combined with ${name}; accepted: one of the two`,
      ]);
    },
  );
});
