/** The kinds of variables: which texts each accepts, and the value it returns. */
import { expect, test } from "bun:test";
import { databaseUrl } from "../src/database-url.ts";
import {
  boolean,
  InvalidValue,
  type Kind,
  listOf,
  oneOf,
  origins,
  quota,
  text,
  wholeNumber,
} from "../src/variable-kinds.ts";

const readFile = (path: string): string => {
  if (path === "/run/ca.pem") return "certificate";
  throw new Error(`ENOENT: ${path}`);
};

interface Case {
  readonly kind: Kind<unknown>;
  readonly accepted: Readonly<Record<string, unknown>>;
  readonly rejected: readonly string[];
}

const isItself = (...texts: string[]) => Object.fromEntries(texts.map((value) => [value, value]));
const perWindow = (limit: number, windowMs: number, words: string) => ({ limit, windowMs, text: words });

const CASES: Readonly<Record<string, Case>> = {
  oneOf: {
    kind: oneOf("json", "pretty"),
    accepted: isItself("json", "pretty"),
    rejected: ["", "JSON", "json ", "text", "json,pretty"],
  },
  listOf: {
    kind: listOf("roles", "email_verified"),
    accepted: { roles: ["roles"], "email_verified, roles": ["email_verified", "roles"] },
    rejected: ["", "Roles", "roles,", "roles email_verified", "roles,sub"],
  },
  boolean: {
    kind: boolean,
    accepted: { true: true, false: false },
    rejected: ["", "true ", "TRUE", "yes", "no", "1", "0"],
  },
  wholeNumber: {
    kind: wholeNumber(1, 1024),
    accepted: { "1": 1, "10": 10, "1024": 1024 },
    rejected: ["", "0", "1025", "-1", "+1", "1.5", "1e1", "0x10", "01", "١", " 1", "1\n", "9".repeat(20)],
  },
  text: {
    kind: text("a host name or an IP address", /^\S+$/),
    accepted: isItself("0.0.0.0", "::", "localhost"),
    rejected: ["", " ", "a b", "\n"],
  },
  quota: {
    kind: quota,
    accepted: {
      "1/second": perWindow(1, 1_000, "1 per 1 second"),
      "5/minute": perWindow(5, 60_000, "5 per 1 minute"),
      "999999999/hour": perWindow(999_999_999, 3_600_000, "999999999 per 1 hour"),
    },
    rejected: ["", "5", "0/minute", "05/minute", "1e3/minute", "5/constructor", " 5/minute", "5/minute\n"],
  },
  origins: {
    kind: origins,
    accepted: {
      "": [],
      " * ": "*",
      "https://a.example": ["https://a.example"],
      " http://localhost:3000 , https://a.example,": ["http://localhost:3000", "https://a.example"],
    },
    rejected: ["a.example", "https://a.example/", "https://A.example", "*,https://a.example", "null"],
  },
  databaseUrl: {
    kind: databaseUrl,
    accepted: isItself(
      "file:x.db",
      "postgres://h/d",
      "postgresql://u:p@h:5432/d",
      "postgres://h/d?sslmode=require",
      "postgres://h/d?sslmode=verify-full&sslrootcert=/run/ca.pem",
    ),
    rejected: [
      ...["", "file:", "postgres://", "mysql://h/d", "x.db", " file:x", "FILE:x"],
      "postgres://h/d?sslmode=",
      "postgres://h/d?sslmode=REQUIRE",
      "postgres://h/d?sslmode=no-verify",
      "postgres://h/d?sslmode=require&sslmode=disable",
      "postgres://h/d?ssl=true",
      "postgres://h/d?tls=false&sslmode=require",
      "postgres://h/d?sslmode=verify-full&sslrootcert=/run/missing.pem",
      "postgres://h/d?sslmode=require&sslcert=/run/ca.pem&sslkey=/run/missing.pem",
    ],
  },
};

test.each(Object.entries(CASES))("%s accepts only its own texts", (_, { kind, accepted, rejected }) => {
  for (const [value, expected] of Object.entries(accepted)) {
    expect([value, kind.parse(value, readFile)]).toEqual([value, expected]);
  }
  for (const value of rejected) {
    expect(() => kind.parse(value, readFile), value).toThrow(InvalidValue);
  }
});
