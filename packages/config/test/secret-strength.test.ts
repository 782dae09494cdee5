/** What production requires, the same as a warning elsewhere, and secrets that are read from files. */
import { describe, expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { ConfigurationError, parseEnvironment, type Variables } from "../src/parse.ts";

const FILES: Readonly<Record<string, string>> = {
  "/run/key": `${SECRET_KEY}\n`,
  "/run/key-crlf": `${SECRET_KEY}\r\n`,
  "/run/weak": "weak\n",
  "/run/empty": "",
  "/run/url": "postgres://u:Hunter2@h/d?sslmode=verify-full\n",
};

function readFile(path: string): string {
  const text = FILES[path];
  if (text === undefined) throw new Error(`ENOENT: ${path}`);
  return text;
}
const parse = (variables: Variables) => parseEnvironment(variables, { readFile });

function errorsOf(variables: Variables): readonly string[] {
  try {
    parse(variables);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.lines;
    throw error;
  }
  return [];
}

const KEYS = ["AUTH_SECRET_KEY", "AUTH_SECRET_KEY_PREVIOUS"] as const;
const PRODUCTION = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://localhost/d",
  AUTH_SECRET_KEY: SECRET_KEY,
};
const keyOf = (bytes: number) => SECRET_KEY.repeat(2).slice(0, bytes);

describe("in production", () => {
  test("a strong secret and a PostgreSQL URL are enough, and no origin is allowed by default", () => {
    const { values, warnings } = parse(PRODUCTION);
    expect(values).toMatchObject({ AUTH_SECRET_KEY: SECRET_KEY, CORS_ORIGINS: [] });
    expect(warnings).toEqual([]);
  });

  test("the database and the secret are required", () => {
    expect(errorsOf({ NODE_ENV: "production" })).toEqual([
      expect.stringMatching(/^DATABASE_URL: is required in production; accepted: /),
      expect.stringMatching(/^AUTH_SECRET_KEY: is required in production; accepted: /),
    ]);
    expect(errorsOf({ NODE_ENV: "production", DATABASE_URL: "file:/var/lib/latchkey.db" })).toHaveLength(1);
  });

  describe.each(KEYS)("%s", (name) => {
    const errorsWith = (key: string, algorithm = "HS256") =>
      errorsOf({ ...PRODUCTION, AUTH_ALGORITHM: algorithm, [name]: key });

    test.each([
      ["HS256", 32],
      ["HS384", 48],
      ["HS512", 64],
    ])("must have as many bytes as the digest of %s: %d", (algorithm, bytes) => {
      expect(errorsWith(keyOf(bytes), algorithm)).toEqual([]);
      expect(errorsWith(keyOf(bytes - 1), algorithm)).toContainEqual(
        expect.stringMatching(
          new RegExp(`^${name}: is shorter than the ${bytes} bytes that ${algorithm} requires; `),
        ),
      );
      // Bytes are counted, not characters: "ß" has two.
      const nearly = "abcdefgh".repeat(8).slice(0, bytes / 2 - 1);
      const enough = "ßabcdefgh".repeat(8).slice(0, bytes - 4);
      expect(errorsWith(nearly, algorithm)).not.toEqual([]);
      expect(errorsWith(enough, algorithm)).toEqual([]);
    });

    test("must have at least 8 distinct characters", () => {
      expect(errorsWith("abcdefg".repeat(10))).toEqual([
        expect.stringMatching(new RegExp(`^${name}: has fewer than 8 `)),
      ]);
      expect(errorsWith("abcdefgh".repeat(10))).toEqual([]);
    });

    test.each(["changeme", "change-me", "your-secret", "replace-me", "example", "CHANGEME", "Example"])(
      "must not contain %s",
      (word) => {
        for (const key of [`${word}${SECRET_KEY}`, `${SECRET_KEY}${word}`]) {
          expect(errorsWith(key)).toEqual([
            expect.stringMatching(new RegExp(`^${name}: looks like a placeholder; `)),
          ]);
        }
      },
    );
  });
});

describe.each(["development", "test"])("in %s", (NodeEnv) => {
  test.each(KEYS)("a weak %s causes a warning that does not contain it", (name) => {
    for (const key of ["Hunter2", `changeme${SECRET_KEY}`, "abcdefg".repeat(10)]) {
      const { values, warnings } = parse({ NODE_ENV: NodeEnv, [name]: key });
      expect(values[name]).toBe(key);
      expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} .+; production rejects it$`))]);
      expect(warnings.join()).not.toContain(key);
    }
    expect(parse({ NODE_ENV: NodeEnv, [name]: SECRET_KEY }).warnings).toEqual([]);
  });

  test("a missing secret is an error with PostgreSQL only", () => {
    expect(parse({ NODE_ENV: NodeEnv, DATABASE_URL: "file:x.db" }).values.AUTH_SECRET_KEY).toBeNull();
    for (const DATABASE_URL of ["postgres://h/d", "postgresql://h/d"]) {
      expect(errorsOf({ NODE_ENV: NodeEnv, DATABASE_URL })).toEqual([
        expect.stringMatching(/^AUTH_SECRET_KEY: is required with PostgreSQL; accepted: /),
      ]);
    }
  });
});

describe("secrets from files", () => {
  test("are the content of the file without the last line ending", () => {
    for (const path of ["/run/key", "/run/key-crlf"]) {
      const { values } = parse({ AUTH_SECRET_KEY_FILE: path, AUTH_SECRET_KEY_PREVIOUS_FILE: path });
      expect([values.AUTH_SECRET_KEY, values.AUTH_SECRET_KEY_PREVIOUS]).toEqual([SECRET_KEY, SECRET_KEY]);
    }
    const { values } = parse({ DATABASE_URL_FILE: "/run/url", AUTH_SECRET_KEY: SECRET_KEY });
    expect(values.DATABASE_URL).toBe("postgres://u:Hunter2@h/d?sslmode=verify-full");
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
