/** Mails that lead to a login, with a real SMTP server: codes, invitations, and what a change of the logins tells the user. */
import { describe, expect, test } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { noPassword } from "@latchkey/database";
import { startMailServer } from "@latchkey/testing/mail-server";
import { smtp, startSender } from "../support/mail-sender.ts";
import { createVerified } from "../support/passkeys.ts";
import { type Service, startService } from "../support/service.ts";

const EMAIL_LOGIN = { AUTH_EMAIL_LOGIN: "true" };

const begin = async ({ call }: Service, email: string) =>
  (await call("POST", "/auth/login/email/options", { body: { email } })).expect<{ state: string }>(200).state;
const codeIn = (message = ""): string => /^(\d{8})\r?$/m.exec(message)?.[1] ?? "";

// At the same time, because they wait for the pace at which the outbox is read.
describe.concurrent("the sender", () => {
  test("sends a code that logs in, to a registered user only", async () => {
    await using server = await startMailServer();
    await using service = await startService({ env: EMAIL_LOGIN });
    await using sender = await startSender(service, smtp(server));
    const { email } = await createVerified(service);
    await begin(service, "nobody@example.org");
    const state = await begin(service, email);
    await sender.drained();
    const mail = server.received.find(({ message }) => message.includes("Subject: Your code"));
    expect(mail?.recipients).toEqual([email]);
    const code = codeIn(mail?.message);
    const body = { state, code };
    expect(
      (await service.call("POST", "/auth/login/email", { body })).expect<Token>(200).access_token,
    ).not.toBe("");
    await sender.drained();
    expect(sender.outcomes.filter((outcome) => outcome.includes("login-code"))).toEqual(["sent login-code"]);
    expect(await service.sql("select kind from outbox where recipient is not null")).toEqual([]);
    expect(JSON.stringify([service.log, sender.log])).not.toContain(code);
  });

  test("sends an unverified recipient three codes a day, and a verified one five at once", async () => {
    await using server = await startMailServer();
    await using service = await startService({ env: EMAIL_LOGIN });
    await using sender = await startSender(service, smtp(server));
    const [verified, unverified] = [await createVerified(service), await service.register()];
    for (let count = 0; count < 7; count++)
      for (const { email } of [verified, unverified]) await begin(service, email);
    await sender.drained();
    const codes = server.received.filter(({ message }) => message.includes("Subject: Your code"));
    const numberOf = (email: string) => codes.filter(({ recipients }) => recipients.includes(email)).length;
    expect([numberOf(verified.email), numberOf(unverified.email)]).toEqual([5, 3]);
  });

  test.each(["true", "false"])(
    "sends as many codes again to a familiar network with RATE_LIMIT_ENABLED=%s, and logs the suppressed ones in few lines",
    async (isLimited) => {
      await using server = await startMailServer();
      await using service = await startService({
        env: {
          ...{ ...EMAIL_LOGIN, TRUST_PROXY: "1" },
          ...{ RATE_LIMIT_ENABLED: isLimited, RATE_LIMIT_MAIL: "100/minute" },
        },
      });
      const [user, unverified] = [await createVerified(service), await service.register()];
      await service.login(user);
      const beginFrom = (address: string, email: string) =>
        service.call("POST", "/auth/login/email/options", {
          body: { email },
          ...(address !== "" && { headers: { "x-forwarded-for": address } }),
        });
      for (let count = 0; count < 30; count++) await beginFrom("203.0.113.9", user.email);
      for (let count = 0; count < 7; count++) await beginFrom("", user.email);
      for (let count = 0; count < 6; count++) await beginFrom("203.0.113.9", unverified.email);
      await using sender = await startSender(service, smtp(server));
      await sender.drained();
      const numberOf = (email: string) =>
        server.received.filter(({ recipients, message }) => recipients.includes(email) && codeIn(message))
          .length;
      expect([numberOf(user.email), numberOf(unverified.email)]).toEqual([10, 3]);
      await sender.close();
      const suppressed = sender.log.filter(({ event }) => event === "mail.suppressed");
      expect(new Set(suppressed.map(({ kind }) => kind))).toEqual(new Set(["login-code"]));
      const numberFor = (userId: number) =>
        suppressed.reduce((sum, { user_id, count }) => sum + (user_id === userId ? Number(count) : 0), 0);
      expect([numberFor(user.id), numberFor(unverified.user.id)]).toEqual([27, 3]);
      // A line for each user; beside other work, a sweep that takes longer than a second has several.
      expect(suppressed.length).toBeLessThan(10);
      expect(sender.outcomes.filter((outcome) => outcome === "suppressed login-code")).toHaveLength(30);
    },
  );

  test("sends as many resets again to a familiar network", async () => {
    await using server = await startMailServer();
    const env = { TRUST_PROXY: "1", RATE_LIMIT_ENABLED: "true", RATE_LIMIT_MAIL: "100/minute" };
    await using service = await startService({ env });
    const user = await createVerified(service);
    await service.login(user);
    const request = (headers = {}) =>
      service.call("POST", "/auth/password-reset", { body: { email: user.email }, headers });
    for (let count = 0; count < 9; count++) await request({ "x-forwarded-for": "203.0.113.9" });
    for (let count = 0; count < 4; count++) await request();
    await using sender = await startSender(service, smtp(server));
    await sender.drained();
    const numberOf = (outcome: string) => sender.outcomes.filter((other) => other === outcome).length;
    expect([numberOf("sent reset"), numberOf("suppressed reset")]).toEqual([6, 7]);
  });

  test("lists in the first code what else logs in, also an identity from before the e-mail was confirmed", async () => {
    await using server = await startMailServer();
    await using service = await startService({ env: EMAIL_LOGIN });
    await using sender = await startSender(service, smtp(server));
    const { user, email } = await service.register();
    const identity = { issuer: "https://accounts.example.com", subject: "1", provider: "hijacker" };
    const condition = { version: 0, exceptToken: null };
    const change = { notifies: false, isUsed: true };
    await service.database.identities.add(user.id, identity, condition, change);
    const mails: string[] = [];
    const requestCode = async () => {
      const state = await begin(service, email);
      await sender.drained();
      mails.push(server.received.findLast(({ message }) => codeIn(message) !== "")?.message ?? "");
      return { state, code: codeIn(mails.at(-1)) };
    };
    // A login now would end the identity.
    await requestCode();
    await service.database.users.verifyEmail({ id: user.id, email });
    const body = await requestCode();
    expect((await service.call("POST", "/auth/login/email", { body })).status).toBe(200);
    await requestCode();
    const [unverified, first, second] = mails;
    expect(first).toMatch(/- the password\r\n- \d{4}-\d\d-\d\d hijacker\r\n/);
    expect(unverified).not.toContain("hijacker");
    expect(second).not.toContain("the password");
  });

  test("sends an invitation whose link sets the password, and no verification", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    await using sender = await startSender(service, smtp(server));
    const email = "ada@example.org";
    await service.database.users.create({ email, username: "ada", ...noPassword(), invites: true });
    const [mail] = await server.waitFor(1);
    expect(mail?.message).toContain(`${service.url}/account/invitation#token=`);
    expect(mail?.message).not.toContain("Somebody, probably you");
    const body = { token: mail?.token, password: "a new long passphrase" };
    expect((await service.call("POST", "/auth/password-reset/confirm", { body })).status).toBe(204);
    expect((await service.call("POST", "/auth/password-reset/confirm", { body })).status).toBe(400);
    expect(await service.login({ email, password: body.password })).not.toBe("");
    await sender.drained();
    expect(sender.outcomes).toEqual(["sent invitation", "sent password"]);
  });

  test("tells the user of a changed identity which logins remain", async () => {
    await using server = await startMailServer();
    await using service = await startService();
    const { id, email } = await createVerified(service);
    const { tokenVersion: version } = await service.readUser(id);
    const identity = { issuer: "https://accounts.example.com", subject: "1", provider: "example" };
    const change = { notifies: true, isUsed: true };
    await service.database.identities.add(id, identity, { version, exceptToken: null }, change);
    await using sender = await startSender(service, smtp(server));
    const mails = await server.waitFor(1);
    const mail = mails.find(({ message }) => /Subject: The logins/.test(message));
    expect(mail?.recipients).toEqual([email]);
    expect(mail?.message).toMatch(/- the password\r\n- \d{4}-\d\d-\d\d example\r\n/);
    await sender.drained();
  });
});
