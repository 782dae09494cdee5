/** The texts of all mails in all languages: what is filled in, and what names cannot do. */
import { describe, expect, test } from "bun:test";
import { hasCode, hasLink, MAIL_KINDS, MAILS, SHIPPED_LANGUAGES } from "@latchkey/contracts";
import { MAIL_LANGUAGES } from "../src/languages/languages.ts";
import { createMails, toPlainText } from "./support/mails.ts";

const KINDS = SHIPPED_LANGUAGES.flatMap((locale) => MAIL_KINDS.map((kind) => [locale, kind] as const));

describe.each(KINDS)("%s: %s", (locale, kind) => {
  test("has the name and the page of the product, its link or code, and no placeholder, as text and as HTML", () => {
    const { subject, text, html, language } = createMails()(kind, {
      ...{ locale, token: "TOKEN", code: "12345678" },
    });
    expect(language).toBe(locale);
    expect(subject + text).not.toMatch(/[{}[\]]/);
    expect(subject).toContain(" Example");
    expect(text).toEndWith("\n\nhttps://example.com\n");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(100);
    const link = `https://accounts.example.com${MAILS[kind].page}#token=TOKEN`;
    for (const part of [text, html]) {
      expect(part.includes(link)).toBe(hasLink(kind));
      expect(part.includes("12345678")).toBe(hasCode(kind));
    }
    expect(html.includes('class="button"')).toBe(hasLink(kind));
    const added = hasLink(kind)
      ? [MAIL_LANGUAGES[locale].buttons[kind], MAIL_LANGUAGES[locale].linkBelow]
      : [];
    expect(toPlainText(html, added)).toBe(toPlainText(Bun.escapeHTML(`Example ${text}`)));
  });

  test("has no empty name if the product has none", () => {
    const { subject, text } = createMails({ product: { name: null, url: null } })(kind, { locale });
    expect(subject + text).not.toMatch(/ (at|to|bei|für|zu)[ .,\n]*$|Example|null|undefined/);
  });
});

test("a language that is not configured, and none, are the default language", () => {
  const write = createMails({ languages: ["de"] });
  for (const locale of ["en", "fr", null]) expect(write("password", { locale }).language).toBe("de");
});

test("a template replaces the link, and a text of the operator replaces that of its language, without a footer", () => {
  const texts = { en: { reset: { subject: "Reset {product}", text: "Go to {link}\n" } } };
  const linkTemplates = { reset: "https://app.example.com/reset#{token}" };
  const write = createMails({ texts, linkTemplates });
  expect(write("reset", { token: "TOKEN" })).toMatchObject({
    subject: "Reset Example",
    text: "Go to https://app.example.com/reset#TOKEN\n",
  });
  expect(write("reset", { locale: "de" }).subject).toBe("Ihr Passwort bei Example zurücksetzen");
});

test("a value that contains a placeholder is not filled in itself", () => {
  const write = createMails({ product: { name: "{link} [x]", url: null } });
  expect(write("reset", { token: "TOKEN" }).subject).toBe("Reset your password at {link} [x]");
});

test("a name keeps its marks, but cannot reorder the text behind it", () => {
  const write = createMails({ product: { name: "\u202Eelpmaxe\u2066 C\u200F", url: null } });
  const { subject, text, html } = write("deletion");
  expect(subject).toBe("Your account at elpmaxe C\u200F was deleted");
  expect(text + html).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
});

test("the listed names of passkeys contain no link, no direction and no telephone number, and at most 32 characters", () => {
  const names = [
    "Ada's phone 15",
    "\u202Ehttp://evil.example/x",
    `0900 123 456 ${"x".repeat(50)}`,
    "書類 ١٢",
  ];
  const passkeys = names.map((name) => ({ name, createdAt: "2026-01-31T10:20:30.123Z" }));
  const { text } = createMails()("password", { logins: { passkeys, identities: [] } });
  const listed = text.split("\n").filter((line) => line.startsWith("- "));
  expect(listed).toEqual([
    '- 2026-01-31 "Ada s phone 15"',
    '- 2026-01-31 "http evil example x"',
    `- 2026-01-31 "${"x".repeat(32)}"`,
    '- 2026-01-31 "書類 ١٢"',
  ]);
});

test("a mail without logins lists none, and one with a password names it", () => {
  const logins = { hasPassword: true, passkeys: [], identities: [] };
  const write = createMails();
  expect(write("identity", { logins }).text).toContain("\n- the password\n");
  const passkeys = [{ name: "iPhone", createdAt: "2026-01-31T10:20:30.123Z" }];
  const german = write("identity", { logins: { ...logins, passkeys }, locale: "de" }).text;
  expect(german).toContain("\n- das Passwort\n- 31.01.2026 „iPhone“\n");
  expect(german.split("\n").every((line) => line.length <= 76)).toBe(true);
  expect(write("identity", { logins: { ...logins, hasPassword: false } }).text).not.toContain("\n- ");
});
