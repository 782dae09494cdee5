/** The kinds of variables: which texts each accepts, and the value it returns. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { databaseUrl } from "../src/database-url.ts";
import * as kinds from "../src/variable-kinds.ts";

const readFile = (path: string) => readFileSync(path, "utf8");
const EXISTING = import.meta.path;

const isItself = (...texts: string[]) => Object.fromEntries(texts.map((value) => [value, value]));
const perWindow = (limit: number, windowMs: number, words: string) => ({ limit, windowMs, text: words });

const CASES = {
  oneOf: {
    kind: kinds.oneOf("json", "pretty"),
    accepted: isItself("json", "pretty"),
    rejected: ["", "JSON", "json ", "text", "json,pretty"],
  },
  listOf: {
    kind: kinds.listOf("roles", "email_verified"),
    accepted: { roles: ["roles"], "email_verified, roles": ["email_verified", "roles"] },
    rejected: ["", "Roles", "roles,", "roles email_verified", "roles,sub"],
  },
  boolean: {
    kind: kinds.boolean,
    accepted: { true: true, false: false },
    rejected: ["", "true ", "TRUE", "yes", "no", "1", "0"],
  },
  wholeNumber: {
    kind: kinds.wholeNumber(1, 1024),
    accepted: { "1": 1, "10": 10, "1024": 1024 },
    rejected: ["", "0", "1025", "-1", "+1", "1.5", "1e1", "0x10", "01", "١", " 1", "1\n", "9".repeat(20)],
  },
  text: {
    kind: kinds.text("a host name or an IP address", /^\S+$/),
    accepted: isItself("0.0.0.0", "::", "localhost"),
    rejected: ["", " ", "a b", "\n"],
  },
  quota: {
    kind: kinds.quota,
    accepted: {
      "1/second": perWindow(1, 1_000, "1 per 1 second"),
      "5/minute": perWindow(5, 60_000, "5 per 1 minute"),
      "999999999/hour": perWindow(999_999_999, 3_600_000, "999999999 per 1 hour"),
    },
    rejected: ["", "5", "0/minute", "05/minute", "1e3/minute", "5/constructor", " 5/minute", "5/minute\n"],
  },
  origins: {
    kind: kinds.origins,
    accepted: {
      "": [],
      " * ": "*",
      "https://a.example": ["https://a.example"],
      " http://localhost:3000 , https://a.example,": ["http://localhost:3000", "https://a.example"],
      "capacitor://localhost,ionic://localhost,tauri://localhost:1420": [
        "capacitor://localhost",
        "ionic://localhost",
        "tauri://localhost:1420",
      ],
      "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb": [
        "chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb",
      ],
      "moz-extension://0a1b2c3d-4e5f-6789-abcd-ef0123456789": [
        "moz-extension://0a1b2c3d-4e5f-6789-abcd-ef0123456789",
      ],
    },
    rejected: [
      ...["a.example", "https://a.example/", "https://A.example", "*,https://a.example", "null"],
      ...["https://*.example.com", "https://*", "**", "https://a.example:*", "chrome-extension://*"],
      ...["capacitor://localhost/", "capacitor://", "tauri://a b", "ftp://a.example", "ws://a.example"],
      ...["file://", "app://localhost", "ionic://u@localhost", "tauri://localhost:", "https:a.example"],
    ],
  },
  databaseUrl: {
    kind: databaseUrl,
    accepted: isItself(
      "file:x.db",
      "postgres://h/d",
      "postgresql://u:p@h:5432/d",
      "postgres://h/d?sslmode=require",
      `postgres://h/d?sslmode=verify-full&sslrootcert=${EXISTING}`,
    ),
    rejected: [
      "",
      "mysql://h/d",
      "postgres://h/d?ssl=true",
      "postgres://h/d?tls=false&sslmode=require",
      "postgres://h/d?sslmode=verify-full&sslrootcert=/run/missing.pem",
      `postgres://h/d?sslmode=require&sslcert=${EXISTING}&sslkey=/run/missing.pem`,
    ],
  },
};

test.each(Object.entries(CASES))("%s accepts only its own texts", (_, { kind, accepted, rejected }) => {
  for (const [value, expected] of Object.entries(accepted)) {
    expect([value, kind.parse(value, readFile)]).toEqual([value, expected]);
  }
  for (const value of rejected) {
    expect(() => kind.parse(value, readFile), value).toThrow(kinds.InvalidValue);
  }
});
