/** `mail test` and `users send-reset`, with a real SMTP server and the outbox of a real database. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { MailPolicy } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { startMailServer } from "@latchkey/testing/mail-server";
import { EMAIL, openSharedDatabase } from "../support/shared-database.ts";
import { runTool } from "../support/tool.ts";

const MAIL_FROM = "accounts@example.com";
const ONE_RESET: MailPolicy = {
  digestMailbox: ({ email }) => email,
  isWanted: () => true,
  isExpired: () => false,
  budgets: [{ kinds: ["reset"], capacity: 1, refillMs: 60_000 }],
};

test("mail test sends a mail, or reports the server's code without its text", async () => {
  let code = 250;
  await using server = await startMailServer({ answer: () => code });
  const run = (env: Readonly<Record<string, string>> = { MAIL_FROM }) =>
    runTool(["mail", "test", " Ada@Example.COM"], { env: { MAIL_URL: server.url, ...env } });
  const stdout = "The mail server accepted a mail to ada@example.com.\n";
  expect(await run()).toEqual({ code: 0, stdout, stderr: "" });
  expect(server.received).toMatchObject([{ recipients: ["ada@example.com"] }]);
  code = 554;
  const stderr = "The mail server did not accept the message (554 5.1.1).\n";
  expect(await run()).toEqual({ code: 69, stdout: "", stderr });
  expect(await run({})).toEqual({ code: 78, stdout: "", stderr: "MAIL_FROM: is not set\n" });
});

test("mail test --kind sends a mail of the service, whose names cannot add a header", async () => {
  await using server = await startMailServer();
  await using folder = await openFolder();
  const env = {
    MAIL_URL: server.url,
    MAIL_FROM: "Bjørn's Ünïcode Fjørd Åbningstider 日本語 <accounts@example.com>",
    MAIL_RESET_URL: "https://app.example.com/reset#{token}",
    PRODUCT_NAME: "Bjørn {link} & Søn",
    MAIL_TEXTS: folder.path,
  };
  await Bun.write(join(folder.path, "password.txt"), "Changed for {product}\n\nAt {product}.\n");
  const run = (kind: string) => runTool(["mail", "test", "ada@example.com", "--kind", kind], { env });
  for (const kind of ["reset", "password"]) expect(await run(kind)).toMatchObject({ code: 0 });
  const [reset = "", password = ""] = server.received.map(({ message }) => message);
  const [head = ""] = reset.split("\r\n\r\n");
  expect(head).toMatch(/^[\x20-\x7e\r\n]*$/);
  expect(Math.max(...head.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(76);
  expect(decodeWords(reset)).toStartWith(
    `From: ${env.MAIL_FROM}\r\nTo: ada@example.com\r\nSubject: Reset your password at Bjørn {link} & Søn\r\n`,
  );
  expect(reset).toContain("\r\n\r\nhttps://app.example.com/reset#test\r\n\r\n");
  expect(decodeWords(password)).toContain("\r\nSubject: Changed for Bjørn {link} & Søn\r\n");
  expect(password).toEndWith("\r\n\r\nAt Bjørn {link} & Søn.\r\n");
});

test("a name that looks like an encoded word of RFC 2047 arrives as it is", async () => {
  await using server = await startMailServer();
  const name = "=?utf-8?B?QmFuaw==?=";
  const env = { MAIL_URL: server.url, MAIL_FROM, PRODUCT_NAME: name };
  const result = await runTool(["mail", "test", "ada@example.com", "--kind", "password"], { env });
  expect(result).toMatchObject({ code: 0 });
  const message = server.received[0]?.message ?? "";
  expect(message.split("\r\n\r\n")[0]).not.toContain(name);
  expect(decodeWords(message)).toContain(`\r\nSubject: Your password at ${name} was changed\r\n`);
});

/** Decodes the words of RFC 2047 and joins their lines. */
const decodeWords = (message: string): string =>
  message.replaceAll(/=\?utf-8\?([BQ])\?(.*?)\?=(\r\n (?==\?))?/gi, (_, encoding: string, word: string) =>
    encoding.toUpperCase() === "B"
      ? Buffer.from(word, "base64").toString()
      : decodeURIComponent(word.replaceAll("_", " ").replaceAll("=", "%")),
  );

test("send-reset writes a reset and set-password a notification, unless the service sends no mail", async () => {
  await using shared = await openSharedDatabase();
  const { users, outbox } = shared.database;
  await shared.insert(["ada"]);
  for (let index = 0; index < 2; index++) {
    expect(await shared.json(["users", "send-reset", EMAIL])).toMatchObject({ email_verified: false });
    const claimed = await outbox.claim(ONE_RESET);
    expect(claimed).toMatchObject({ kind: "reset", user: { id: 1 }, isWithinBudget: true });
  }
  await users.changeAsOperator(1, { isActive: false });
  const NO_MAIL = "This e-mail gets no mail: its domain does not exist, or it could be read as another one.";
  for (const [email, message] of [
    [EMAIL, "An inactive user gets no mail."],
    ["cy@example.invalid", NO_MAIL],
    ["=?utf-8?q?ada?=@example.com", NO_MAIL],
  ] as const) {
    if (email !== EMAIL) await users.create({ email, username: email, hashedPassword: "s$d" });
    const refused = await shared.tool(["users", "send-reset", email]);
    expect(refused).toEqual({ code: 1, stdout: "", stderr: `${message}\n` });
  }
  await users.changeAsOperator(1, { isActive: true });
  await shared.json(["users", "set-password", EMAIL], "a new passphrase\n");
  expect(await outbox.claim(ONE_RESET)).toMatchObject({ kind: "password" });
  const env = { NODE_ENV: "production", ...shared.env };
  const stderr = "MAIL_URL: is not set, so that the service sends no mail\n";
  expect(await runTool(["users", "send-reset", EMAIL], { env })).toEqual({ code: 78, stdout: "", stderr });
  await runTool(["users", "set-password", EMAIL], { env, input: "another passphrase\n" });
  // The claimed notification: the resets were deleted, and nothing was added.
  expect(await outbox.count()).toBe(1);
});
