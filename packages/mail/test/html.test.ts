/** The HTML of mails: what it loads, what it escapes, and how an operator's text becomes paragraphs. */
import { expect, test } from "bun:test";
import { createMails } from "./support/mails.ts";

const withText = (text: string, name: string | null = "Example") => {
  const texts = { en: { reset: { subject: "Hi", text }, "login-code": { subject: "Hi", text } } };
  return createMails({ texts, product: { name, url: null } });
};

test("names, texts and addresses are escaped", () => {
  const name = `<img src=x onerror="alert(1)"> & Söhne`;
  const linkTemplates = { reset: "https://app.example.com/?a=1&b='#{token}" };
  const texts = { en: { reset: { subject: "{product}", text: "<b>At {product}</b>\n\n{link}\n" } } };
  const { html } = createMails({ texts, linkTemplates, product: { name, url: null } })("reset", {
    token: `"><script>`,
  });
  expect(html).not.toMatch(/<(img|b|script)\b/);
  expect(html).toContain("&lt;b&gt;At &lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; Söhne&lt;/b&gt;");
  expect(html).toContain(`href="https://app.example.com/?a=1&amp;b=&#x27;#&quot;&gt;&lt;script&gt;"`);
});

test("loads nothing but the product's picture, from the host of the pages", () => {
  expect(createMails()("reset").html).not.toMatch(/src=|url\(|@import|<link|<script|background="/);
  const { html } = createMails({ logoPath: "/assets/logo.png" })("reset");
  expect(html.match(/src="[^"]*"/g)).toEqual(['src="https://accounts.example.com/assets/logo.png"']);
});

test("an operator's text becomes paragraphs, lists and deliberate line breaks", () => {
  const long = "x".repeat(50);
  const { html } = withText(`Hello,\nAda\n\n${long} continues\nhere\n\n- one\n- two\n \n{link}`)("reset");
  expect(html).toContain(`>Hello,<br>\nAda</p>`);
  expect(html).toContain(`>${long} continues\nhere</p>`);
  expect(html).toContain("<li>one</li>\n<li>two</li>");
  expect(html.match(/class="button"/g)).toHaveLength(1);
});

test("a link or a code inside a sentence is marked there, and the button follows", () => {
  const { html } = withText("Open {link} now.\n\nOr later: {link}.")("reset", { token: "T" });
  expect(html.match(/class="link" href="[^"]*#token=T"/g)).toHaveLength(2);
  expect(html.match(/class="button"/g)).toHaveLength(1);
  expect(html.indexOf('class="link"')).toBeLessThan(html.indexOf('class="button"'));
  expect(withText("It is {code}.")("login-code", { code: "12345678" }).html).toMatch(
    /It is <strong [^>]*>12345678<\/strong>\./,
  );
});
