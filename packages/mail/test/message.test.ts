/** The bytes of a message: headers, line ends and encodings. */
import { expect, test } from "bun:test";
import { composeMessage } from "../src/index.ts";

const compose = async (changes: object) => {
  const from = "Example <accounts@example.com>";
  const message = { from, to: "ada@example.com", subject: "Hello", text: "First line\nsecond line\n" };
  return (await composeMessage({ ...message, ...changes })).toString();
};

test("a text in ASCII is sent unencoded, with CRLF, and asks for no automatic reply", async () => {
  const link = `https://accounts.example.com/#token=${"x".repeat(200)}`;
  const message = await compose({ text: `Open\n${link}\n` });
  for (const header of [
    "From: Example <accounts@example.com>",
    "To: ada@example.com",
    "Subject: Hello",
    "Auto-Submitted: auto-generated",
    "Content-Transfer-Encoding: 7bit",
  ])
    expect(`\r\n${message}`).toContain(`\r\n${header}\r\n`);
  expect(message).toEndWith(`\r\n\r\nOpen\r\n${link}\r\n`);
});

test("a text with other characters is encoded, and its message contains only ASCII", async () => {
  const message = await compose({
    from: '"Bücher, GmbH" <a@example.com>',
    subject: "Grüße",
    text: "Grüße\n",
  });
  expect(message).toMatch(/^[\r\n\x20-\x7e]*$/);
  expect(message).toContain("Content-Transfer-Encoding: quoted-printable");
  expect(message).toContain("Gr=C3=BC=C3=9Fe");
});

test("a subject that looks like an encoded word is encoded, so that mail programs show it as it is", async () => {
  expect(await compose({ subject: "=?utf-8?Q?Hi?=" })).toContain("Subject: =?UTF-8?B?");
});

test("the domain of the recipient is sent in ASCII", async () => {
  expect(await compose({ to: "ada@bücher.example" })).toContain("To: ada@xn--bcher-kva.example\r\n");
});

test("text and HTML are alternatives, the text first, each unencoded if it is in ASCII with short lines", async () => {
  const link = `https://accounts.example.com/#token=${"x".repeat(200)}`;
  const message = await compose({ text: `${link}\n`, html: `<a href="${link}">Open</a>\n`, language: "de" });
  const [head = "", text = "", html = ""] = message.split(/\r\n--.*\r\n/);
  expect(head).toMatch(/^Content-Type: multipart\/alternative;$/m);
  expect(head).toContain("\r\nContent-Language: de\r\n");
  expect(text).toStartWith(
    "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n",
  );
  expect(text).toEndWith(`\r\n\r\n${link}\r\n`);
  expect(html).toStartWith(
    "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n",
  );
  expect(html).toContain(`\r\n\r\n<a href="${link}">Open</a>`);
  const encoded = await compose({ html: `<p>Grüße ${"x".repeat(1000)}</p>` });
  expect(encoded).toMatch(/^[\r\n\x20-\x7e]*$/);
  expect(Math.max(...encoded.split("\r\n").map(({ length }) => length))).toBeLessThan(100);
});

test("no text adds a header", async () => {
  const message = await compose({ subject: "Hi\r\nBcc: x@example.org", from: '"A\r\nBcc: x@y.zz" <a@b.cd>' });
  expect(message.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
});
