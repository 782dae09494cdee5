/** The mail sender with a real SMTP server: what is sent and what is not, and what happens while the server fails. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createCertificate, hasOpenssl } from "@latchkey/testing/certificates";
import { openFolder } from "@latchkey/testing/folder";
import { startMailServer } from "@latchkey/testing/mail-server";
import { file } from "bun";
import { createFileTransport } from "../../src/mail/file-transport.ts";
import { smtp, startSender } from "../support/mail-sender.ts";
import {
  beginCreation,
  create,
  createVerified,
  creationBody,
  startWithPasskeys,
} from "../support/passkeys.ts";
import { type Service, startService } from "../support/service.ts";

// The tests of a block run at once and share the processor, so each lasts as long as all.
const PASSWORD = "a new long passphrase";
const unusable = { hashedPassword: "salt$digest" };

/** As if the pauses of all mails were over. */
const expirePauses = (service: Service) =>
  service.sql("update outbox set next_attempt_at = created_at where next_attempt_at is not null");

const requestReset = (service: Service, email: string) =>
  service.call("POST", "/auth/password-reset", { body: { email } });

// At the same time, because they wait for the pace at which the outbox is read.
describe.concurrent("the sender", () => {
  test("sends links that work, and a notification of the change, without anything that a client chose", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    await using sender = await startSender(service, smtp(server));
    const { email } = await service.register({ username: "<b>click</b> https://evil.ex" });
    await server.waitFor(1);
    await requestReset(service, email);
    const [verification, reset] = await server.waitFor(2);
    for (const [path, token] of [
      ["email-verification", verification?.token],
      ["password-reset", reset?.token],
    ]) {
      const body = { token, password: PASSWORD };
      expect((await service.call("POST", `/auth/${path}/confirm`, { body })).status).toBe(204);
    }
    const received = await server.waitFor(3);
    for (const { recipients, raw, message, html } of received) {
      expect(recipients).toEqual([email]);
      for (const header of [
        "From: Example <accounts@example.com>",
        `To: ${email}`,
        "Auto-Submitted: auto-generated",
        "Content-Transfer-Encoding: 7bit",
      ])
        expect(`\r\n${raw}`).toContain(`\r\n${header}\r\n`);
      expect(message + html).not.toMatch(/evil|click/);
    }
    expect(received[1]?.message).toContain(`${service.url}/account/reset-password#token=`);
    await sender.drained();
    expect(sender.outcomes).toEqual(["sent verification", "sent reset", "sent password"]);
    expect(sender.log).toEqual([]);
  });

  test("a mail about a changed password lists the passkeys that remain, and their names contain no link or telephone number", async () => {
    await using server = await startMailServer();
    await using service = await startWithPasskeys();
    await using sender = await startSender(service, smtp(server));
    const user = await createVerified(service);
    const names = ["Ada's phone 15", "\u202Ehttp://evil.example/x", `0900 123 456 ${"x".repeat(50)}`];
    for (const name of names) {
      const body = { ...creationBody(await beginCreation(service, user)), name };
      expect((await create(service, user, body)).status).toBe(201);
    }
    await sender.drained();
    const change = (body: object) => service.call("PATCH", "/auth/me", { token: user.token, body });
    const sentBefore = server.received.length;
    await change({ password: PASSWORD, current_password: user.password });
    const listed = (await server.waitFor(sentBefore + 1)).at(-1)?.message ?? "";
    const today = new Date().toISOString().slice(0, 10);
    const words = ["Ada s phone 15", "http evil example x", "x".repeat(32)];
    const lines = words.map((name) => `- ${today} "${name}"\r\n`).join("");
    expect(listed).toContain(`\r\n\r\n${lines}`);
    await change({ password: "another passphrase", current_password: PASSWORD, remove_passkeys: true });
    const without = (await server.waitFor(sentBefore + 2)).at(-1)?.message ?? "";
    expect(without).toContain("was changed");
    expect(without).not.toContain("passkeys");
  });

  test("sends nothing for unknown, inactive, verified and .invalid users, beyond the budget, or with an expired link", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    const [inactive, verified] = [await service.register(), await service.register()];
    await service.register({ email: "import@example.invalid" });
    await service.sql("delete from outbox");
    await service.database.users.changeAsOperator(inactive.user.id, { isActive: false });
    await service.database.users.update(verified.user.id, { emailVerified: true });
    await service.database.outbox.request("verification", verified.email);
    for (const email of ["nobody@example.org", inactive.email, "import@example.invalid"])
      await requestReset(service, email);
    for (let index = 0; index < 5; index++) await requestReset(service, verified.email);
    const expired = await service.register();
    const longAgo = "created_at = '2026-01-01T00:00:00.000Z'";
    await service.sql(`update outbox set ${longAgo} where user_id = ${expired.user.id}`);
    await using sender = await startSender(service, smtp(server));
    await sender.drained();
    expect(sender.log).toMatchObject([{ event: "mail.failed", reason: "expired" }]);
    expect(sender.outcomes.toSorted()).toEqual([
      "failed verification",
      ...["sent reset", "sent reset", "sent reset"],
      ...["suppressed reset", "suppressed reset"],
    ]);
    expect(server.received.map(({ recipients }) => recipients)).toEqual(Array(3).fill([verified.email]));
    // Only those remain that count in a budget.
    expect(await service.sql("select id from outbox")).toHaveLength(3);
  });

  test("retries while the server closes the connection or answers 4xx or is down, and gives up after 5xx", async () => {
    let answer: number | "close" = "close";
    const server = await startMailServer({ answer: () => answer });
    await using service = await startService();
    await using sender = await startSender(service, smtp(server));
    const { email, user } = await service.register();
    await sender.event("mail.postponed");
    answer = 451;
    await expirePauses(service);
    await sender.event("mail.postponed", 2);
    await server[Symbol.asyncDispose]();
    await expirePauses(service);
    const postponed = await sender.event("mail.postponed", 3);
    const line = { kind: "verification", user_id: user.id };
    const reasons = [expect.any(String), "451 5.1.1", "ECONNREFUSED"];
    expect(postponed).toMatchObject(reasons.map((reason) => ({ ...line, reason })));
    await using restarted = await startMailServer({ port: server.port, answer: () => 550 });
    await expirePauses(service);
    expect(await sender.event("mail.failed")).toMatchObject([{ ...line, reason: "550 5.1.1" }]);
    await sender.drained();
    expect(restarted.received).toEqual([]);
    expect(sender.outcomes).toEqual(["failed verification"]);
    // The server repeats the address in its reply.
    expect(JSON.stringify(sender.log)).not.toContain(email);
  });

  test.skipIf(!hasOpenssl)("a mail waits while the server rejects the service's own login", async () => {
    await using folder = await openFolder();
    const certificate = await createCertificate(folder.path, "server");
    await using server = await startMailServer({ certificate });
    await using service = await startService();
    const login = {
      auth: { user: "latchkey", pass: "changed" },
      tls: { ca: await file(certificate.caFile).text() },
    };
    await using sender = await startSender(service, smtp(server, login));
    await service.register();
    expect(await sender.event("mail.postponed")).toMatchObject([{ kind: "verification", reason: "535" }]);
    expect(await service.database.outbox.count()).toBe(1);
  });

  test("a mail arrives at the address of its user or nowhere, however the address is spelled", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    await using sender = await startSender(service, smtp(server));
    const ambiguous = [
      ...["x<ada@example.org", "x,ada@example.org", "x:ada@example.org", "ada(x)@example.org"],
      ...["ada@example.org,x.org", "ada@exam\u00ADple.org", '"ada"@example.org'],
      "=?utf-8?q?ada?=@example.org",
    ];
    // Earlier releases accepted them at registration.
    for (const [index, email] of ambiguous.entries())
      await service.database.users.create({ ...unusable, email, username: `x${index}`, verifies: true });
    const failed = await sender.event("mail.failed", ambiguous.length);
    expect(new Set(failed.map(({ reason }) => reason))).toEqual(new Set(["EENVELOPE"]));
    const usual = ["o'hara+x@sub.example.org", "ada@bücher.example", "ädä@example.org"];
    for (const email of usual) await service.register({ email });
    const received = await server.waitFor(usual.length);
    const recipients = received.flatMap(({ recipients }) => recipients);
    expect(recipients.toSorted()).toEqual(usual.toSorted());
    expect(received.map(({ message }) => message).join("")).toContain(
      "\r\nTo: ada@xn--bcher-kva.example\r\n",
    );
  });

  test("a server without SMTPUTF8 and 8BITMIME gets ASCII and a domain as the client's name, and no mail that needs SMTPUTF8", async () => {
    await using server = await startMailServer({ isModern: false });
    await using service = await startService({ env: { PRODUCT_NAME: "Müller & Söhne" } });
    await using sender = await startSender(service, smtp(server));
    await service.register({ email: "ädä@example.org" });
    await service.register({ email: "ada@bücher.example" });
    expect(await sender.event("mail.failed")).toMatchObject([{ reason: "no SMTPUTF8" }]);
    const [mail] = await server.waitFor(1);
    expect(mail).toMatchObject({ clientName: "example.com" });
    expect(mail?.raw).toMatch(/^[\r\n\x20-\x7e]*$/);
    expect(mail?.message).toContain("Müller & Söhne");
  });

  test("sends no more to tagged or differently spelled addresses of one mailbox than its budget, which ambiguous ones do not use", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    const verified = await service.register({ email: "flood+own@corp.example" });
    await service.database.users.update(verified.user.id, { emailVerified: true });
    await service.sql("delete from outbox");
    for (let index = 0; index < 12; index++) await service.register({ email: `flood+${index}@corp.example` });
    const spellings = ["ada@bücher.example", "ada@xn--bcher-kva.example"];
    // Earlier releases created two users.
    for (const [index, email] of spellings.entries())
      await service.sql(
        `insert into users (email, username, hashed_password) values ('${email}', 'ada${index}', 's$d')`,
      );
    for (const email of [...spellings, ...spellings, "flood+own@corp.example"])
      await requestReset(service, email);
    // With soft hyphens.
    for (const [index, domain] of ["c\u00adorp", "co\u00adrp", "cor\u00adp"].entries()) {
      const email = `flood@${domain}.example`;
      await service.database.users.create({ ...unusable, email, username: `flood${index}`, verifies: true });
    }
    await service.register({ email: "flood@corp.example" });
    await using sender = await startSender(service, smtp(server));
    await sender.drained();
    const sent = server.received.flatMap(({ recipients, message }) =>
      recipients.map((to) => `${/Subject: (\w+)/.exec(message)?.[1]} ${to.replace(/\+\d+@|@.*cher.*/, "…")}`),
    );
    const counts = Map.groupBy(sent, String);
    expect(Object.fromEntries([...counts].map(([mail, { length }]) => [mail, length]))).toEqual({
      "Confirm flood…corp.example": 3,
      "Confirm flood@corp.example": 1,
      "Reset ada…": 3,
      "Reset flood+own@corp.example": 1,
    });
  });

  test("a mail to which the server has not answered counts also if its user is deleted meanwhile", async () => {
    await using server = await startMailServer({ answer: () => "close" });
    await using service = await startService();
    await using sender = await startSender(service, smtp(server));
    const { user } = await service.register();
    await sender.event("mail.postponed");
    await service.database.users.delete(user.id);
    await expirePauses(service);
    await sender.drained();
    const digests = "select id from outbox where email_digest is not null";
    expect(await service.sql(digests)).toHaveLength(1);
  });

  test("24 recipients for whom the server does not respond delay a mail to another one by one timeout at most, and to a verified one not at all", async () => {
    let hanging = 0;
    await using server = await startMailServer({
      answer: (recipient) => {
        if (!recipient.endsWith("@hangs.example")) return 250;
        hanging += 1;
        return "hang";
      },
    });
    await using service = await startService();
    for (let index = 0; index < 24; index++) await service.register({ email: `${index}@hangs.example` });
    // Not disposed: closing waits for the mails that are being sent.
    const sender = await startSender(service, smtp(server, { socketTimeout: 1_000 }));
    while (hanging < 4) await Bun.sleep(10);
    const { user, email } = await service.register({ email: "bob@example.org" });
    await service.sql("delete from outbox where user_id = (select max(id) from users)");
    await service.database.users.update(user.id, { emailVerified: true });
    await service.database.outbox.request("reset", email);
    await service.register({ email: "ada@example.org" });
    await server.waitFor(2);
    // Those that were being sent, and the next ones.
    expect(hanging).toBeLessThanOrEqual(8);
    expect(server.received.map(({ recipients }) => recipients)).toEqual([[email], ["ada@example.org"]]);
    await Promise.all([server[Symbol.asyncDispose](), sender.close()]);
  });

  test("waits for the mail in progress when it is closed, and starts no other", async () => {
    const release = Promise.withResolvers<void>();
    let started = 0;
    const transport = {
      send: async () => {
        started += 1;
        await release.promise;
      },
    };
    await using service = await startService();
    const sender = await startSender(service, transport);
    for (let index = 0; index < 6; index++) await service.register();
    while (started < 4) await Bun.sleep(10);
    const closed = sender.close();
    release.resolve();
    await closed;
    expect([started, sender.outcomes.length, await service.database.outbox.count()]).toEqual([4, 4, 2]);
  });
});

test("without a server, the newest 100 mails are files that only their owner can read", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "outbox");
  const names: unknown[] = [];
  const transport = createFileTransport(path, { info: (line: { path?: string }) => names.push(line.path) });
  const message = { from: "a@b.cd", to: "x@y.zz", text: "Text\n" };
  for (let index = 0; index < 103; index++) await transport.send({ ...message, subject: `Mail ${index}` });
  const files = readdirSync(path)
    .map((name) => join(path, name))
    .sort();
  expect(files).toEqual(names.slice(3).map(String));
  expect(readFileSync(files[0] ?? "", "utf8")).toContain("Subject: Mail 3\r\n");
  expect([path, files[0] ?? ""].map((file) => statSync(file).mode & 0o777)).toEqual([0o700, 0o600]);
});
