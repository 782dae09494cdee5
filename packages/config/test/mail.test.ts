/** The variables of mail: what each accepts, and which others it requires. */
import { expect, test } from "bun:test";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { Variables } from "../src/parse.ts";
import { mailOptions } from "../src/variables.ts";
import { errorsOf, parse as parseFrom } from "./support/parse.ts";

const COMPLETE = {
  MAIL_URL: "smtps://user:p%40ss@mail.example.com",
  MAIL_FROM: "Example Accounts <accounts@example.com>",
  PUBLIC_URL: "https://accounts.example.com/",
};

const KEY = { AUTH_SECRET_KEY: SECRET_KEY };
const parse = (variables: Variables) => parseFrom({ ...KEY, ...variables });

/** The names of the invalid variables. */
function invalidIn(variables: Variables): string[] {
  const errors = errorsOf({ ...KEY, ...variables });
  expect(errors.join()).not.toMatch(/p%40ss|p@ss/);
  return errors.map((line) => line.slice(0, line.indexOf(":")));
}

test.each([
  [COMPLETE.MAIL_URL, "mail.example.com", 465, { secure: true, auth: { user: "user", pass: "p@ss" } }],
  ["SMTPS://mail.example.com", "mail.example.com", 465, { secure: true }],
  ["smtp://mail.example.com", "mail.example.com", 587, { requireTLS: true }],
  ["smtp://10.0.0.7:25/", "10.0.0.7", 25, { requireTLS: true }],
  ["smtp://mail.example.com:25?tls=off", "mail.example.com", 25, { ignoreTLS: true }],
  ["smtp://127.0.0.1:25", "127.0.0.1", 25, {}],
  ["smtp://[::1]:2525", "::1", 2525, {}],
])("%s: TLS is required unless the server is on this machine", (url, host, port, options) => {
  const { MAIL_URL } = parse({ ...COMPLETE, MAIL_URL: url }).values;
  const plaintext = { secure: false, requireTLS: false, ignoreTLS: false };
  expect<object | null>(MAIL_URL).toEqual({ ...plaintext, host, port, ...options });
});

const TWO_HEADERS = "a@b.c\r\nBcc: x@y.zz";

test.each<[name: string, ...values: string[]]>([
  ["MAIL_URL", "", "http://mail.example.com", "smtp://", "smtp://:pass@host", "smtp://u:%zz@host"],
  ["MAIL_URL", "smtp://host/path", "smtp://host?tls=on", "smtps://host?tls=off", "smtp://host:99999"],
  [
    "MAIL_FROM",
    "",
    "accounts",
    TWO_HEADERS,
    "<a@b.cd>",
    "A <a@b.cd> B",
    "a@b.c, d@e.f",
    "=?utf-8?B?QQ==?= <a@b.cd>",
  ],
  [
    "PUBLIC_URL",
    "",
    "accounts.example.com",
    "https://a.example/?x",
    "https://a.example/p#x",
    "ftp://a.example",
  ],
  [
    "PUBLIC_URL",
    "https://u:p@a.example",
    "https://a.example/a/../b",
    "https://a.example//",
    "https://a.example/{token}",
  ],
  ["MAIL_RESET_URL", "", "https://a.example/", "https://a.example/#{token}{token}", "javascript:{token}"],
  ["PRODUCT_NAME", "", " Example", "Example\r\nBcc: x@y.zz", "Exam\u2028ple", "x".repeat(65)],
  ["PRODUCT_COLOR", "", "blue", "#fff", "#0b535", "#0b53511", "rgb(1 2 3)"],
  ["PRODUCT_URL", "", "app.example.com", "javascript:alert(1)", "https://a b.example"],
  ["MAIL_RESET_URL", "/reset#{token}", "https://{token}.example/", "https://a.example/#{token}\r\nx"],
])("%s rejects other values, without printing a secret", (name, ...values) => {
  expect(values.filter((value) => !invalidIn({ ...COMPLETE, [name]: value }).includes(name))).toEqual([]);
});

test("the least contrast to white that WCAG 2.2 accepts is accepted", () => {
  expect(parse({ ...COMPLETE, PRODUCT_COLOR: "#767676" }).values.PRODUCT_COLOR).toBe("#767676");
  expect(invalidIn({ ...COMPLETE, PRODUCT_COLOR: "#777777" })).toContain("PRODUCT_COLOR");
});

test.each(["https://accounts.example.com", "https://example.com/a/b"])(
  "PUBLIC_URL: %s, also with a slash",
  (url) => {
    for (const PUBLIC_URL of [url, `${url}/`])
      expect(parse({ ...COMPLETE, PUBLIC_URL }).values.PUBLIC_URL).toBe(url);
  },
);

test("a server requires a sender and the origin of links, unless both templates are set", () => {
  const { MAIL_URL, MAIL_FROM } = COMPLETE;
  const templates = {
    MAIL_RESET_URL: "https://a.example/#{token}",
    MAIL_VERIFICATION_URL: "https://a.example/#{token}",
  };
  expect(invalidIn({ MAIL_URL })).toEqual(["MAIL_FROM", "PUBLIC_URL"]);
  const { MAIL_RESET_URL } = templates;
  expect(invalidIn({ MAIL_URL, MAIL_FROM, MAIL_RESET_URL })).toEqual(["PUBLIC_URL"]);
  for (const complete of [{ MAIL_URL, MAIL_FROM, ...templates }, COMPLETE, {}, { AUTH_EMAIL_CHANGE: "true" }])
    expect(invalidIn(complete)).toEqual([]);
  const changing = { MAIL_URL, MAIL_FROM, ...templates, AUTH_EMAIL_CHANGE: "true" };
  expect(invalidIn(changing)).toEqual(["PUBLIC_URL"]);
  const approval = { MAIL_EMAIL_APPROVAL_URL: "https://a.example/#{token}" };
  expect(invalidIn({ ...changing, ...approval })).toEqual(["PUBLIC_URL"]);
  const confirmation = { MAIL_EMAIL_CHANGE_URL: "https://a.example/#{token}" };
  expect(invalidIn({ ...changing, ...approval, ...confirmation })).toEqual([]);
  expect(invalidIn({ ...COMPLETE, AUTH_EMAIL_CHANGE: "true" })).toEqual([]);
  const production = { NODE_ENV: "production", DATABASE_URL: "file:x.db", AUTH_EMAIL_CHANGE: "true" };
  expect(invalidIn(production)).toEqual(["MAIL_URL"]);
});

const withTexts = (reset: string | null) =>
  [{ ...KEY, MAIL_TEXTS: "/texts" }, { files: { "/texts/reset.txt": reset } }] as const;

test("MAIL_TEXTS reads subject and text from a file per kind, with one warning for all that are missing", () => {
  const { values, warnings } = parseFrom(...withTexts("For {product}\r\n\r\nOpen it:\r\n\r\n{link}\r\n"));
  expect(values.MAIL_TEXTS?.default).toEqual({
    reset: { subject: "For {product}", text: "Open it:\n\n{link}\n" },
  });
  expect(warnings).toEqual([expect.stringMatching(/^MAIL_TEXTS has no verification\.txt, password\.txt/)]);
});

test("MAIL_TEXTS can name a folder for each language, and warns about one that LANGUAGES does not contain", () => {
  const folders = JSON.stringify({ en: "/en", de: "/de" });
  const reset = (name: string) => `${name} {product}\n{link}`;
  const files = { "/en/reset.txt": reset("Hello"), "/de/reset.txt": reset("Hallo") };
  const read = (Languages: string) =>
    parseFrom({ ...KEY, MAIL_TEXTS: folders, LANGUAGES: Languages }, { files });
  const { values, warnings } = read("de,en");
  const { texts, languages } = mailOptions(values);
  expect(languages).toEqual(["de", "en"]);
  expect([texts.de?.reset?.subject, texts.en?.reset?.subject]).toEqual([
    "Hallo {product}",
    "Hello {product}",
  ]);
  expect(warnings).toEqual([
    expect.stringMatching(/^MAIL_TEXTS has for en no verification\.txt.*; for de no /),
  ]);
  expect(read("en").warnings.join()).toContain(
    "MAIL_TEXTS has texts for de, which LANGUAGES does not contain",
  );
});

test("one folder of MAIL_TEXTS has the texts of the default language only", () => {
  const files = { "/texts/reset.txt": "{product}\n{link}" };
  const { values } = parseFrom({ ...KEY, MAIL_TEXTS: "/texts", LANGUAGES: "de,en" }, { files });
  expect(mailOptions(values).texts).toMatchObject({ de: { reset: { subject: "{product}" } }, en: {} });
});

test.each([
  ["is not valid JSON", "{"],
  ["names no folder", "{}"],
  ["has a member that is not a language of this service", '{"fr": "/texts"}'],
  ["has a folder that is not a text", '{"de": ["/texts"]}'],
  ["names a folder without texts", '{"de": "/none"}'],
])("a MAIL_TEXTS that %s is an error", (problem, MailTexts) => {
  const [error] = errorsOf({ ...KEY, MAIL_TEXTS: MailTexts });
  expect(error).toStartWith(`MAIL_TEXTS: ${problem}; accepted: `);
});

test("LANGUAGES is English by default, and rejects unknown and repeated languages", () => {
  expect(parse({}).values.LANGUAGES).toEqual(["en"]);
  expect(parse({ LANGUAGES: "de, en" }).values.LANGUAGES).toEqual(["de", "en"]);
  const invalid = ["", "fr", "en,fr", "de,en,de", "EN", "en-US", "en,", "../en"];
  expect(invalid.filter((Languages) => !invalidIn({ LANGUAGES: Languages }).includes("LANGUAGES"))).toEqual(
    [],
  );
});

test.each([
  ["cannot be read", null],
  ["has no subject or no text", "{product} {link}\n\n"],
  ["has no {link}", "{product}\n{Link}"],
  ["has no {product}", "Hello\n{link}"],
  ["contains {token}", "{product}\n{link} {token}"],
  ["has {link} in its subject", "{link}\n{product} {link}"],
  ["contains a control character", "Hi\rBcc: x@y.zz\n{product} {link}"],
  ["has a line that is too long", `Hi\n{product} {link}${"é".repeat(30)}`],
])("a text that %s is an error", (problem, changed) => {
  const [error] = errorsOf(...withTexts(changed));
  expect(error).toStartWith(`MAIL_TEXTS: names a folder whose reset.txt ${problem}; accepted: `);
});

test.each(["Acme, Inc.", '"Acme, Inc."', "AT&T", "Société – Générale"])(
  "MAIL_FROM can have the display name %s",
  (name) => {
    const MAIL_FROM = `${name} <a@example.com>`;
    expect(parse({ ...COMPLETE, MAIL_FROM }).values.MAIL_FROM).toBe(MAIL_FROM);
  },
);
