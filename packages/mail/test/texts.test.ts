/** The texts of all mails: what is filled in, and what a name of a passkey cannot do. */
import { describe, expect, test } from "bun:test";
import { hasCode, hasLink, MAIL_KINDS, MAILS } from "@latchkey/contracts";
import { createMails } from "../src/index.ts";

const options = {
  publicUrl: "https://accounts.example.com",
  linkTemplates: {},
  product: { name: "Example", url: "https://example.com" },
  texts: null,
};
const write = createMails(options);

describe.each(MAIL_KINDS)("%s", (kind) => {
  test("has the name and the page of the product, its link or code, and no placeholder", () => {
    const { subject, text } = write(kind, { token: "TOKEN", code: "12345678" });
    expect(subject + text).not.toMatch(/[{}]/);
    expect(subject).toContain(" at Example");
    expect(text).toEndWith("\nhttps://example.com\n");
    const link = hasLink(kind) ? `https://accounts.example.com${MAILS[kind].page}#token=TOKEN` : "#token";
    expect(text.includes(link)).toBe(hasLink(kind));
    expect(text.includes("12345678")).toBe(hasCode(kind));
  });

  test("has no empty name if the product has none", () => {
    const { subject, text } = createMails({ ...options, product: { name: null, url: null } })(kind);
    expect(subject + text).not.toMatch(/ at[ .,\n]*$|Example|null/);
  });
});

test("a template replaces the link, and a text of the operator replaces the text without a footer", () => {
  const texts = { reset: { subject: "Reset {product}", text: "Go to {link}\n" } };
  const linkTemplates = { reset: "https://app.example.com/reset#{token}" };
  expect(createMails({ ...options, texts, linkTemplates })("reset", { token: "TOKEN" })).toEqual({
    subject: "Reset Example",
    text: "Go to https://app.example.com/reset#TOKEN\n",
  });
});

test("a value that contains a placeholder is not filled in itself", () => {
  const mails = createMails({ ...options, product: { name: "{link}", url: null } });
  expect(mails("reset", { token: "TOKEN" }).subject).toBe("Reset your password at {link}");
});

test("the listed names of passkeys contain no link, no direction and no telephone number, and at most 32 characters", () => {
  const names = [
    "Ada's phone 15",
    "\u202Ehttp://evil.example/x",
    `0900 123 456 ${"x".repeat(50)}`,
    "書類 ١٢",
  ];
  const passkeys = names.map((name) => ({ name, createdAt: "2026-01-31T10:20:30.123Z" }));
  const { text } = write("password", { logins: { passkeys, identities: [] } });
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
  expect(write("identity", { logins }).text).toContain("\n- the password\n");
  expect(write("identity", { logins: { ...logins, hasPassword: false } }).text).not.toContain("\n- ");
});
