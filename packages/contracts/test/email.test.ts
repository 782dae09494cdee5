/** Which forms of an address belong to one user, and which addresses are accepted and get mail. */
import { expect, test } from "bun:test";
import { emailForms, isMailable, normalizeEmail, toAsciiEmail } from "../src/index.ts";

test.each([
  ["ada@bücher.example", "ada@xn--bcher-kva.example"],
  ["ada@例え.テスト", "ada@xn--r8jz45g.xn--zckzah"],
  ["josé@example.com", "josé@example.com"],
  ["ada@faß.example", "ada@xn--fa-hia.example"],
  ["ada@bücher。example", "ada@xn--bcher-kva.example"],
  // `domainToASCII` would return another host, or an underscore.
  ["ada@ex%61mple.com", "ada@ex%61mple.com"],
  ["ada@1.2", "ada@1.2"],
  ["ada@１.２", "ada@１.２"],
  ["ada@bücher.example:80", "ada@bücher.example:80"],
  ["ada@bü\u00adcher.example", "ada@bü\u00adcher.example"],
  ["ada@bü_cher.example", "ada@bü_cher.example"],
])("the domain of %s is stored as %s", (email, ascii) => {
  expect(toAsciiEmail(email)).toBe(ascii);
});

test("an ideographic full stop separates the labels of a domain that has no other dot", () => {
  expect(normalizeEmail("Ada@例子。中国")).toBe("ada@xn--fsqu00a.xn--fiqs8s");
  expect(normalizeEmail("ada@例子。中国.example")).toBe("ada@例子。中国.example");
});

test("an address is found as sent, in ASCII and in Unicode", () => {
  const [unicode, ascii] = ["ada@bücher.example", "ada@xn--bcher-kva.example"];
  expect(emailForms(unicode)).toEqual([unicode, ascii, unicode]);
  expect(emailForms(ascii)).toEqual([ascii, ascii, unicode]);
  expect(new Set(emailForms("ada@example.com")).size).toBe(1);
});

test.each([
  ...[
    "ada@example.com",
    "a+b@sub.example.com",
    "o'neil@example.com",
    "josé@example.com",
    "ada@bücher.example",
  ],
  ...[
    "ada.@example.com",
    "ada@1.2",
    "ada@ex_ample.com",
    "ada@xn--bcher-kva.example",
    "użytkownik@例え.テスト",
  ],
])("%s can be registered and gets mail", (email) => {
  expect(isMailable(email)).toBe(true);
});

test.each([
  ...["ada\u200b@example.com", "ada\u202e@example.com", "ada@example\u00ad.com", "ada\u0007@example.com"],
  ...["a;b@example.com", "a,b@example.com", "ada@ex<b>.com", "ada@example.com>", '"ada"@example.com'],
  ...[
    "ada(x)@example.com",
    "ada@[1.2.3.4]",
    "ada@example.com:25",
    "a\\b@example.com",
    "=?utf-8?q?ada?=@example.com",
  ],
  ...["ada@bü_cher.example", "ada@example", "ada@@example.com"],
])("%j cannot be registered", (email) => {
  expect(isMailable(email)).toBe(false);
});
