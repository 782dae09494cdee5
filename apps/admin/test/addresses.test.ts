/**
 * Real-looking e-mail addresses through everything that accepts a new one. Each address is either rejected everywhere, or it is
 * accepted everywhere and a mail server accepts its mails.
 */
import { expect, test } from "bun:test";
import { type Token, toAsciiEmail } from "@latchkey/contracts";
import { openFolder } from "@latchkey/testing/folder";
import { startMailServer } from "@latchkey/testing/mail-server";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { openSharedDatabase } from "./support/shared-database.ts";

/** The address that the mail server gets, if it is not the one that was sent. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "ada@bücher.example": "ada@xn--bcher-kva.example",
  "bob@xn--bcher-kva.example": "",
  " Ada.Upper@EXAMPLE.com ": "ada.upper@example.com",
  "ada@faß.example": "ada@xn--fa-hia.example",
  "ada@例え.テスト": "ada@xn--r8jz45g.xn--zckzah",
  "ada@مثال.إختبار": "ada@xn--mgbh0fb.xn--kgbechtv",
  "ada@пример.рф": "ada@xn--e1afmkfd.xn--p1ai",
  "ada@例子。中国": "ada@xn--fsqu00a.xn--fiqs8s",
  "ada@ｅｘａｍｐｌｅ.com": "ada@example.com",
  "eve@bu\u0308cher.example": "eve@xn--bcher-kva.example",
  "josé@example.com": "",
  "użytkownik@example.com": "",
  "用户@例子.中国": "用户@xn--fsqu00a.xn--fiqs8s",
  "δοκιμή@παράδειγμα.δοκιμή": "δοκιμή@xn--hxajbheg2az3al.xn--jxalpdlp",
  "ada+shop@example.com": "",
  "ada+a+b@example.com": "",
  "+ada@example.com": "",
  "ada-shop@example.com": "",
  "ada.lovelace@sub.sub.example.co.uk": "",
  "a@b.co": "",
  "o'neil@example.com": "",
  "ada=bob@example.com": "",
  "ada/dept@example.com": "",
  "!#$%&'*+-/?^_`{|}~@example.com": "",
  "ada_1815@example.com": "",
  "0@example.com": "",
  "ada@123.example.com": "",
  "ada@ex-ample.com": "",
  "ada@very-long-label-very-long-label-very-long-label-very-long-lab.example": "",
  "very.long.local.part.very.long.local.part.very.long.local.part.xx@example.com": "",
  "😀@example.com": "",
};

const REJECTED = [
  '"ada lovelace"@example.com',
  '"ada"@example.com',
  '"ada@home"@example.com',
  "ada lovelace@example.com",
  "ada\u00a0lovelace@example.com",
  "ada\u200b@example.com",
  "\ufeffada\u200d@example.com",
  "ada\u202e@example.com",
  "ada\u2066x\u2069@example.com",
  "ada@exam\u00adple.com",
  "ada@bü\u200ccher.example",
  "ada\u0007@example.com",
  "ada\t@example.com",
  "ada@example.com\r\nBcc: eve@example.com",
  "ada@example.com, eve@example.com",
  "ada;eve@example.com",
  "Ada <ada@example.com>",
  "ada@ex<b>.com",
  "ada@example.com>",
  "ada(work)@example.com",
  "ada@[192.0.2.1]",
  "ada@[IPv6:2001:db8::1]",
  "ada@example.com:25",
  "ada\\@example.com",
  "=?utf-8?q?ada?=@example.com",
  "ada@@example.com",
  "ada@example",
  "ada@.example.com",
  "ada@example..com",
  "ada@bü_cher.example",
  "ada@bücher.example/x",
  "@example.com",
  `${"a".repeat(250)}@example.com`,
];

const PASSWORD = "correct horse battery";

test("every address is either rejected by register, import and change, or accepted by all of them and by the mail server", async () => {
  await using folder = await openFolder();
  await using server = await startMailServer();
  await using service = startProcess({
    DATABASE_URL: folder.databaseUrl,
    MAIL_URL: server.url,
    MAIL_FROM: "accounts@example.com",
    PUBLIC_URL: "https://accounts.example.com",
    AUTH_EMAIL_CHANGE: "true",
    RATE_LIMIT_ENABLED: "false",
    ...PATIENT_HASHING,
  });
  const url = await service.ready();
  const owner = { email: "owner@example.invalid", username: "owner", password: PASSWORD };
  await post(`${url}/auth/register`, owner);
  const { access_token: token }: Token = JSON.parse(await (await post(`${url}/auth/login`, owner)).text());
  const addresses = [...Object.keys(ACCEPTED), ...REJECTED];

  const statusesOf = async (email: string, index: number) => {
    const registered = await post(`${url}/auth/register`, {
      email,
      username: `user${index}`,
      password: PASSWORD,
    });
    const body = { email, current_password: PASSWORD };
    const changed = await request(`${url}/auth/email-change`, { method: "POST", token, body });
    return [email, registered.status, changed.status];
  };
  const statuses = await Promise.all(addresses.map(statusesOf));
  expect(statuses).toEqual([
    ...Object.keys(ACCEPTED).map((email) => [email, 201, 202]),
    ...REJECTED.map((email) => [email, 422, 422]),
  ]);

  const lines = addresses.map((email, index) =>
    JSON.stringify({ email, username: `user${index}`, password_hash: null }),
  );
  await using other = await openSharedDatabase();
  const imported = await other.tool(["users", "import", "-", "--json"], lines.join("\n"));
  const rejections = imported.stdout.split("\n").filter((line) => line.includes('"line":'));
  expect(rejections.map((line) => addresses[JSON.parse(line).line - 1])).toEqual(REJECTED);

  for (const email of Object.keys(ACCEPTED))
    expect((await post(`${url}/auth/password-reset`, { email })).status).toBe(202);
  const expected = Object.entries(ACCEPTED).map(([email, recipient]) => recipient || email);
  const mails = await server.waitFor(2 * expected.length);
  // A header can be folded. An address that needs SMTPUTF8 has its domain in Unicode.
  const sentTo = mails.map(({ raw }) => toAsciiEmail(/^To:\s+(\S+)\r$/m.exec(raw)?.[1] ?? ""));
  expect(sentTo.toSorted()).toEqual([...expected, ...expected].toSorted());
  for (const [index, { raw, recipients }] of mails.entries()) {
    expect(recipients.map(toAsciiEmail)).toEqual(sentTo.slice(index, index + 1));
    if (/^[\0-\x7f]*$/.test(sentTo[index] ?? "")) expect(raw).toMatch(/^[\0-\x7f]*$/);
  }
});
