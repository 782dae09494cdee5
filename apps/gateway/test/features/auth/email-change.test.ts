/** Changes of e-mail with a real SMTP server: who gets which mail, what each link does, and what ends it. */
import { expect, test } from "bun:test";
import { startMailServer } from "@latchkey/testing/mail-server";
import { LINK_ENDS } from "../../support/link-ends.ts";
import { smtp, startSender } from "../../support/mail-sender.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import { createVerified, enrol } from "../../support/passkeys.ts";
import {
  EVERY_FEATURE,
  eachDatabase,
  type Service,
  type ServiceOptions,
  type startService,
  type TestUser,
} from "../../support/service.ts";

const INVALID = { detail: "Invalid or expired link", code: "ONE_TIME_TOKEN_INVALID" };

/** A service with a mail server. */
async function startMailing(start: typeof startService, options: ServiceOptions = {}) {
  const server = await startMailServer();
  const service = await start({ ...options, env: { ...EVERY_FEATURE, ...options.env } });
  const sender = await startSender(service, smtp(server));
  let seen = 0;
  const post = async (path: string, token: string) => {
    const { status, body } = await service.call("POST", `/auth/email-change/${path}`, { body: { token } });
    return status === 400 ? body : status;
  };
  return {
    ...service,
    service,
    sender,
    /** The mails since the last call, as the recipient and the first word of the subject, with the tokens of links. */
    async mails() {
      await sender.drained();
      const mails = server.received.slice(seen).map(({ recipients, message, token }) => {
        const [, word = "", rest = ""] = /^Subject: (\w+) (.*)$/m.exec(message) ?? [];
        return { to: recipients.join(), subject: `${word} ${rest.trim()}`, token, message };
      });
      seen = server.received.length;
      return mails;
    },
    approve: (token = "") => post("approve", token),
    confirm: (token = "") => post("confirm", token),
    async [Symbol.asyncDispose]() {
      await sender.close();
      await service[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
type Mailing = Awaited<ReturnType<typeof startMailing>>;

const request = async ({ call }: Pick<Service, "call">, { token, password }: TestUser, email: string) => {
  const body = { email, current_password: password };
  return (await call("POST", "/auth/email-change", { token, body })).status;
};

const recipientsOf = (mails: Awaited<ReturnType<Mailing["mails"]>>) => mails.map(({ to }) => to);

/** A verified user whose first mails are sent. */
async function createSettled(mailing: Mailing): Promise<TestUser> {
  const user = await createVerified(mailing.service);
  await mailing.mails();
  return user;
}

eachDatabase((start, testOnce) => {
  test("the present mailbox approves, then the new one confirms, which ends all logins, links, networks and passkeys", async () => {
    await using mailing = await startMailing(start, { env: { RATE_LIMIT_ENABLED: "true" } });
    const { service, mails, approve, confirm } = mailing;
    const user = await createSettled(mailing);
    const { id, email, password, token } = user;
    await enrol(service, user);
    const before = await service.readUser(id);
    const links = (["reset", "verification"] as const).map((purpose) => signOneTimeToken(purpose, before));
    expect(recipientsOf(await mails())).toEqual([email]);
    expect(await request(service, user, " New@Example.org ")).toBe(202);
    const pending = { pendingEmail: "new@example.org", linkRevision: before.linkRevision + 1 };
    expect(await service.readUser(id)).toEqual({ ...before, ...pending });
    const [approval, ...others] = await mails();
    expect([approval?.to, others]).toEqual([email, []]);
    expect(approval?.message).toContain(`${service.url}/account/approve-email#token=`);
    expect(approval?.message).not.toContain("new@example.org");
    expect(await confirm(approval?.token)).toEqual(INVALID);
    expect(await approve(approval?.token)).toBe(204);
    expect(await approve(approval?.token)).toEqual(INVALID);
    const [confirmation, ...none] = await mails();
    expect([confirmation?.to, none]).toEqual(["new@example.org", []]);
    expect(confirmation?.message).toContain(`${service.url}/account/change-email#token=`);
    expect(await approve(confirmation?.token)).toEqual(INVALID);
    expect(await service.readUser(id)).toEqual({ ...before, ...pending });
    expect(await confirm(confirmation?.token)).toBe(204);
    expect(await confirm(confirmation?.token)).toEqual(INVALID);
    expect(await mails()).toMatchObject([{ to: email, token: "" }]);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
    expect(await service.database.passkeys.list(id)).toEqual([]);
    const means = await service.database.users.countLoginMeans([id], 60);
    expect(means.get(id)?.networks).toBe(0);
    for (const [index, path] of ["password-reset", "email-verification"].entries()) {
      const body = { token: links[index], password: "a new long passphrase" };
      expect((await service.call("POST", `/auth/${path}/confirm`, { body })).body).toEqual(INVALID);
    }
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    await service.login({ email: "new@example.org", password });
    const changed = { email: "new@example.org", emailVerified: true, pendingEmail: null };
    expect(await service.readUser(id)).toMatchObject({ id, ...changed });
  });

  testOnce(
    "links end with the next request, a cancellation, the password, a revocation, a deactivation and a deletion",
    async () => {
      await using mailing = await startMailing(start);
      const { service, mails, approve, confirm } = mailing;
      const next = (one: Service, user: TestUser) => request(one, user, `corrected${user.id}@example.org`);
      const cancel = (one: Service, user: TestUser) => request(one, user, user.email);
      const again = async (one: Service, user: TestUser) => {
        await cancel(one, user);
        await request(one, user, `typo${user.id}@example.org`);
      };
      const sentBefore: string[] = [];
      for (const end of [...LINK_ENDS, next, cancel, again]) {
        const [waiting, approving, confirming] = [
          await createVerified(service),
          await createVerified(service),
          await createVerified(service),
        ];
        await mails();
        for (const user of [approving, confirming])
          await request(service, user, `typo${user.id}@example.org`);
        const links = await mails();
        const linkTo = (email: string) => links.find(({ to }) => to === email)?.token;
        expect(await approve(linkTo(confirming.email))).toBe(204);
        const [confirmation] = await mails();
        await request(service, waiting, `typo${waiting.id}@example.org`);
        for (const user of [waiting, approving, confirming]) await end(service, user);
        expect(await approve(linkTo(approving.email))).toEqual(INVALID);
        expect(await confirm(confirmation?.token)).toEqual(INVALID);
        sentBefore.push(...(await mails()).filter(({ to }) => to.startsWith("typo")).map(({ to }) => to));
      }
      // Nothing goes to an address that was not approved.
      expect(sentBefore).toEqual([]);
    },
  );

  test("an unverified user's mail goes to the new address at once, and a verification since then ends it", async () => {
    await using mailing = await startMailing(start);
    const { service, mails, confirm } = mailing;
    for (const isVerifiedSince of [false, true]) {
      const user = await service.createUser();
      const email = `new${user.id}@example.org`;
      await mails();
      await request(service, user, email);
      const [link, ...others] = await mails();
      expect([link?.to, others]).toEqual([email, []]);
      if (isVerifiedSince) await service.database.users.update(user.id, { emailVerified: true });
      expect(await confirm(link?.token)).toEqual(isVerifiedSince ? INVALID : 204);
    }
  });

  test("neither mails nor responses reveal whether the new address is taken, also after three requests", async () => {
    await using mailing = await startMailing(start);
    const { service, mails, approve, confirm } = mailing;
    const taken = await createSettled(mailing);
    // An unverified user, whose mails go to the new address directly, and a verified one.
    const [unverified, verified] = [await service.createUser(), await createVerified(service)];
    await mails();
    for (let index = 0; index < 3; index++) expect(await request(service, unverified, taken.email)).toBe(202);
    expect(await mails()).toEqual([]);
    expect(await request(service, unverified, "mine@example.org")).toBe(202);
    expect(await mails()).toEqual([]);
    await request(service, verified, taken.email);
    const [approval] = await mails();
    expect([approval?.to, await approve(approval?.token)]).toEqual([verified.email, 204]);
    expect(await mails()).toEqual([]);
    await request(service, verified, "free@example.org");
    const [second] = await mails();
    await approve(second?.token);
    const [confirmation] = await mails();
    await service.register({ email: "free@example.org" });
    const body = { token: confirmation?.token };
    const conflict = await service.call("POST", "/auth/email-change/confirm", { body });
    expect([conflict.status, conflict.body]).toMatchObject([409, { code: "USER_ALREADY_EXISTS" }]);
    expect((await service.readUser(verified.id)).email).toBe(verified.email);
    expect(await confirm()).toEqual(INVALID);
  });

  test("strangers who request changes to an address do not prevent the verification of its owner", async () => {
    await using mailing = await startMailing(start);
    const { service, mails } = mailing;
    const address = "owner@example.net";
    for (let index = 0; index < 4; index++) {
      const stranger = await service.createUser();
      // The first mail can be sent before the second request ends it.
      for (let again = 0; again < 2; again++) await request(service, stranger, address);
    }
    const toOwner = (await mails()).filter(({ to }) => to === address);
    expect(toOwner).toHaveLength(3);
    await service.register({ email: address });
    expect(await mails()).toMatchObject([{ to: address, subject: "Confirm your e-mail address" }]);
  });

  test("a stolen token sets no password, and with the password changes no e-mail without the owner's mailbox", async () => {
    await using mailing = await startMailing(start);
    const { service, mails, approve, confirm } = mailing;
    const owner = await createSettled(mailing);
    const { id, email, token, password } = owner;
    const thief = "thief@example.org";
    const change = { token, body: { password: "the thief's passphrase" } };
    expect((await service.call("PATCH", "/auth/me", change)).status).toBe(422);
    // The password is known, too.
    const body = { password: "the thief's passphrase", current_password: password };
    expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(200);
    const stolen = { ...owner, password: body.password };
    expect(await request(service, stolen, thief)).toBe(202);
    const [warning, approval, ...others] = await mails();
    expect([warning?.to, approval?.to, others]).toEqual([email, email, []]);
    const reset = { token: signOneTimeToken("reset", await service.readUser(id)), password };
    expect((await service.call("POST", "/auth/password-reset/confirm", { body: reset })).status).toBe(204);
    expect(await approve(approval?.token)).toEqual(INVALID);
    expect(await confirm(approval?.token)).toEqual(INVALID);
    expect(recipientsOf(await mails())).toEqual([email]);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
    await service.login({ email, password });
  });

  test("no number of mails suppresses the notification of another kind, and none that of a deletion", async () => {
    await using mailing = await startMailing(start);
    const { service, sender, mails } = mailing;
    const user = await createSettled(mailing);
    for (let index = 0; index < 6; index++) {
      const current_password = index === 0 ? user.password : `passphrase ${index - 1}`;
      const body = { password: `passphrase ${index}`, current_password };
      (await service.call("PATCH", "/auth/me", { token: user.token, body })).expect(200);
    }
    expect(await mails()).toHaveLength(5);
    const owner = { ...user, password: "passphrase 5" };
    await enrol(service, owner);
    expect(await mails()).toMatchObject([{ subject: expect.stringContaining("passkeys") }]);
    const line = { kind: "password", user_id: user.id, count: 1 };
    expect(await sender.event("mail.suppressed")).toMatchObject([line]);
    expect((await service.call("DELETE", "/auth/me", { token: user.token })).status).toBe(204);
    expect(await mails()).toMatchObject([{ to: user.email, subject: expect.stringContaining("deleted") }]);
  });

  test("registrations and deletions are no mail bomb, also with tags", async () => {
    await using mailing = await startMailing(start);
    const { service, mails } = mailing;
    for (let index = 0; index < 7; index++) {
      const { token } = await service.createUser({ email: `victim+${index}@example.net` });
      await service.call("DELETE", "/auth/me", { token });
    }
    const subjects = (await mails()).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.includes("deleted"))).toHaveLength(5);
    // The verifications of deleted users are not sent.
    expect(subjects.filter((subject) => subject.startsWith("Confirm")).length).toBeLessThanOrEqual(3);
  });
});
