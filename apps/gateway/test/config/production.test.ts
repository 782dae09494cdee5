/** What production asks of secrets and of the database, what elsewhere is a warning, and secrets that come from files. */
import { describe, expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { ConfigurationError, parseConfig } from "../../src/config/config.ts";

type Variables = Readonly<Record<string, string>>;

const FILES: Variables = {
  "/run/key": `${SECRET_KEY}\n`,
  "/run/key-crlf": `${SECRET_KEY}\r\n`,
  "/run/weak": "weak\n",
  "/run/empty": "",
  "/run/url": "postgres://u:Hunter2@h/d\n",
};

function parse(variables: Variables) {
  const readFile = (path: string): string => {
    const text = FILES[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
  return parseConfig(variables, { kernels: ["portable"], isTerminal: false, readFile });
}

function faultsOf(variables: Variables): readonly string[] {
  try {
    parse(variables);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

const PRODUCTION = { NODE_ENV: "production", DATABASE_URL: "postgres://h/d", AUTH_SECRET_KEY: SECRET_KEY };
const keyOf = (bytes: number) => SECRET_KEY.repeat(2).slice(0, bytes);

describe("in production", () => {
  test("a real secret and a PostgreSQL URL are enough, and no origin is allowed by default", () => {
    const config = parse(PRODUCTION);
    expect(config).toMatchObject({ environment: "production", corsOrigins: [], warnings: [] });
    expect(config.auth.secretKey).toBe(SECRET_KEY);
  });

  test("nothing hides behind a default: the database and the secret must be set, both told at once", () => {
    const faults = faultsOf({ NODE_ENV: "production" });
    expect(faults.map((fault) => fault.split(":")[0]).sort()).toEqual(["AUTH_SECRET_KEY", "DATABASE_URL"]);
  });

  test.each([
    ["HS256", 32],
    ["HS384", 48],
    ["HS512", 64],
  ] as const)("%s asks for a secret of %d bytes", (algorithm, bytes) => {
    const withKey = (key: string) =>
      faultsOf({ ...PRODUCTION, AUTH_ALGORITHM: algorithm, AUTH_SECRET_KEY: key });
    expect(withKey(keyOf(bytes))).toEqual([]);
    expect(withKey(keyOf(bytes - 1))).toEqual([
      expect.stringMatching(/^AUTH_SECRET_KEY: is shorter than the /),
    ]);
    // Bytes and not characters are counted: "ß" is two.
    const [half, enough] = [
      "abcdefgh".repeat(8).slice(0, bytes / 2 - 1),
      "ßabcdefgh".repeat(8).slice(0, bytes - 4),
    ];
    expect(withKey(half)).toHaveLength(1);
    expect(withKey(enough)).toEqual([]);
  });

  test("a secret of fewer than 8 distinct characters is refused", () => {
    expect(faultsOf({ ...PRODUCTION, AUTH_SECRET_KEY: "abcdefg".repeat(10) })).toHaveLength(1);
    expect(faultsOf({ ...PRODUCTION, AUTH_SECRET_KEY: "abcdefgh".repeat(10) })).toEqual([]);
  });

  test.each(["changeme", "change-me", "your-secret", "replace-me", "example", "CHANGEME", "Example"])(
    "a secret with %s in it is refused",
    (word) => {
      for (const key of [`${word}${SECRET_KEY}`, `${SECRET_KEY}${word}`]) {
        expect(faultsOf({ ...PRODUCTION, AUTH_SECRET_KEY: key })).toHaveLength(1);
      }
    },
  );

  test("an embedded database that was asked for by name is a warning", () => {
    const { warnings } = parse({ ...PRODUCTION, DATABASE_URL: "file:/var/lib/latchkey.db" });
    expect(warnings).toEqual([expect.stringContaining("DATABASE_URL")]);
  });

  test("an embedded database keeps no secret of its own there", () => {
    const faults = faultsOf({ NODE_ENV: "production", DATABASE_URL: "file:/var/lib/latchkey.db" });
    expect(faults).toEqual([expect.stringMatching(/^AUTH_SECRET_KEY: is not set/)]);
  });
});

describe("outside production", () => {
  test.each(["development", "test"])(
    "in %s a weak secret is a warning that does not repeat it",
    (environment) => {
      for (const key of ["Hunter2", `changeme${SECRET_KEY}`, "abcdefg".repeat(10)]) {
        const config = parse({ NODE_ENV: environment, AUTH_SECRET_KEY: key });
        expect(config.auth.secretKey).toBe(key);
        expect(config.warnings).toEqual([expect.stringMatching(/^AUTH_SECRET_KEY /)]);
        expect(config.warnings.join()).not.toContain(key);
      }
      expect(parse({ NODE_ENV: environment, AUTH_SECRET_KEY: SECRET_KEY }).warnings).toEqual([]);
    },
  );

  test("an unset secret is made beside an embedded database, and refused with PostgreSQL", () => {
    expect(parse({ DATABASE_URL: "file:x.db" }).auth.secretKey).toBeNull();
    for (const url of ["postgres://h/d", "postgresql://h/d"]) {
      expect(faultsOf({ DATABASE_URL: url })).toEqual([
        expect.stringMatching(/^AUTH_SECRET_KEY: is not set/),
      ]);
    }
  });
});

describe("secrets from files", () => {
  test("the file's text is the secret, without one line end", () => {
    for (const file of ["/run/key", "/run/key-crlf"]) {
      const { auth } = parse({ AUTH_SECRET_KEY_FILE: file, AUTH_SECRET_KEY_PREVIOUS_FILE: file });
      expect([auth.secretKey, auth.previousSecretKey]).toEqual([SECRET_KEY, SECRET_KEY]);
    }
    expect(parse({ ...PRODUCTION, DATABASE_URL: "file:x", AUTH_ALGORITHM: "HS512" }).auth.secretKey).toBe(
      SECRET_KEY,
    );
    const { database } = parse({ DATABASE_URL_FILE: "/run/url", AUTH_SECRET_KEY: SECRET_KEY });
    expect(database.url).toBe("postgres://u:Hunter2@h/d");
  });

  test("production judges a secret from a file like any other", () => {
    const { NODE_ENV } = PRODUCTION;
    const good = { NODE_ENV, DATABASE_URL_FILE: "/run/url", AUTH_SECRET_KEY_FILE: "/run/key" };
    expect(parse(good).auth.secretKey).toBe(SECRET_KEY);
    expect(faultsOf({ ...good, AUTH_SECRET_KEY_FILE: "/run/weak" })).toEqual([
      expect.stringMatching(/^AUTH_SECRET_KEY: is shorter than/),
    ]);
  });

  test.each(["AUTH_SECRET_KEY", "AUTH_SECRET_KEY_PREVIOUS", "DATABASE_URL", "REDIS_URL"])(
    "%s_FILE: unreadable, empty, or beside the variable itself is a fault by name",
    (name) => {
      const beside = name === "REDIS_URL" ? "redis://h" : "file:x";
      const others = name === "AUTH_SECRET_KEY" ? {} : { AUTH_SECRET_KEY: SECRET_KEY };
      for (const path of ["/run/nothing", ""]) {
        expect(faultsOf({ ...others, [`${name}_FILE`]: path })).toEqual([
          expect.stringMatching(new RegExp(`^${name}_FILE: names a file that cannot be read; accepted: `)),
        ]);
      }
      expect(faultsOf({ ...others, [`${name}_FILE`]: "/run/empty" })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: is empty`)),
      ]);
      expect(faultsOf({ ...others, [`${name}_FILE`]: "/run/key", [name]: beside })).toEqual([
        expect.stringMatching(new RegExp(`^${name}_FILE: is set beside ${name}; accepted: `)),
      ]);
    },
  );
});
