/** Changes of e-mail over HTTP, from the request to the confirmation, and with a mail sender what is sent in between. */
import { describe, expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import type { User } from "@latchkey/contracts";
import { bindImportedHash } from "@latchkey/hashing";
import { startMailServer } from "@latchkey/testing/mail-server";
import { smtp, startSender } from "../../support/mail-sender.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import {
  EVERY_FEATURE,
  eachDatabase,
  type Service,
  shareService,
  startService,
} from "../../support/service.ts";

const PASSWORD = "correct horse battery";
const INVALID = { detail: "Invalid or expired link", code: "ONE_TIME_TOKEN_INVALID" };

const request = (service: Service, token: string, email: string, password = PASSWORD) =>
  service.call("POST", "/auth/email-change", { token, body: { email, current_password: password } });
const confirm = (service: Service, token: string) =>
  service.call("POST", "/auth/email-change/confirm", { body: { token } });

const sign = async (service: Service, id: number, newEmail: string): Promise<string> =>
  signOneTimeToken("email-change", await service.readUser(id), undefined, newEmail);

eachDatabase((start) => {
  test("a confirmation changes and verifies the e-mail, and ends tokens, networks and links of before", async () => {
    await using service = await start({ env: EVERY_FEATURE });
    const { id, email, token } = await service.createUser();
    const newEmail = `new-${email}`;
    const user = await service.readUser(id);
    await service.database.users.storeNetwork(id, "elsewhere");
    const reset = signOneTimeToken("reset", user);
    const verification = signOneTimeToken("verification", user);
    const requested = await request(service, token, ` ${newEmail.toUpperCase()}`);
    expect([requested.status, requested.text]).toEqual([202, ""]);
    expect(await service.readUser(id)).toEqual(user);
    const link = await sign(service, id, newEmail);
    const confirmed = await confirm(service, link);
    expect([confirmed.status, confirmed.text]).toEqual([204, ""]);
    expect(await service.readUser(id)).toMatchObject({ email: newEmail, emailVerified: true });
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
    expect(await service.sql("select network_digest from user_networks")).toEqual([]);
    for (const [path, old] of [
      ["email-change", link],
      ["password-reset", reset],
      ["email-verification", verification],
    ]) {
      const body = { token: old, password: PASSWORD };
      expect((await service.call("POST", `/auth/${path}/confirm`, { body })).body).toEqual(INVALID);
    }
    expect((await service.call("POST", "/auth/login", { body: { email, password: PASSWORD } })).status).toBe(
      401,
    );
    const renewed = await service.login({ email: newEmail, password: PASSWORD });
    const me = await service.call("GET", "/auth/me", { token: renewed });
    expect(me.expect<User>(200)).toMatchObject({ id, email: newEmail, email_verified: true });
  });

  test("of parallel confirmations one wins, and an e-mail that was registered meanwhile returns 409", async () => {
    await using service = await start({ env: EVERY_FEATURE });
    const { id, email, token } = await service.createUser();
    const links = await Promise.all(["a@b.example", "c@d.example"].map((to) => sign(service, id, to)));
    const taken = await sign(service, id, "taken@example.org");
    await service.register({ email: "taken@example.org" });
    expect((await confirm(service, taken)).status).toBe(409);
    expect((await service.readUser(id)).email).toBe(email);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(200);
    const results = await Promise.all([...links, ...links].map((link) => confirm(service, link)));
    expect(results.map(({ status }) => status).toSorted()).toEqual([204, 400, 400, 400]);
  });
});

describe("with one service", () => {
  const service = shareService({ env: EVERY_FEATURE });

  test("the response is the same for a free, a taken and the own e-mail", async () => {
    const [{ email, token }, other] = [await service().createUser(), await service().register()];
    for (const to of ["free@example.org", other.email, email, "x@example.invalid"]) {
      const { status, text, headers } = await request(service(), token, to);
      expect([status, text, headers.get("content-length")]).toEqual([202, "", "0"]);
    }
  });

  test("a link of before is rejected after a new password, a revocation, a deactivation, a deletion and a change", async () => {
    const { users } = service().database;
    const changes: ((id: number, token: string) => Promise<unknown>)[] = [
      (_, token) =>
        service().call("PATCH", "/auth/me", { token, body: { password: "a new long passphrase" } }),
      (_, token) => service().call("DELETE", "/auth/tokens", { token }),
      (id) => users.setActive(id, false),
      (id) => users.setActive(id, false).then(() => users.setActive(id, true)),
      (id) => users.delete(id),
      async (id) => confirm(service(), await sign(service(), id, `other${id}@example.org`)),
      // A release without versions.
      (id) => service().sql(`update users set hashed_password = 'other' where id = ${id}`),
    ];
    for (const change of changes) {
      const { id, token } = await service().createUser();
      const link = await sign(service(), id, `new${id}@example.org`);
      await change(id, token);
      expect((await confirm(service(), link)).body).toEqual(INVALID);
    }
  });

  test("the tokens of other purposes, of another key and without an e-mail are rejected", async () => {
    const { id } = await service().createUser();
    const user = await service().readUser(id);
    const link = await sign(service(), id, "new@example.org");
    const forged = [signOneTimeToken("reset", user), signOneTimeToken("verification", user), `${link}x`, ""];
    for (const one of forged) expect((await confirm(service(), one)).body).toEqual(INVALID);
    const verify = await service().call("POST", "/auth/email-verification/confirm", {
      body: { token: link },
    });
    expect(verify.body).toEqual(INVALID);
    expect((await service().readUser(id)).emailVerified).toBe(false);
  });

  test("a wrong current password changes nothing, and the longest e-mail has a link that works", async () => {
    const { id, token } = await service().createUser();
    const rows = () => service().sql(`select id from outbox where user_id = ${id} and kind = 'email-change'`);
    const wrong = await request(service(), token, "new@example.org", "wrong");
    expect(wrong.body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    expect([wrong.status, await rows()]).toEqual([403, []]);
    const newEmail = `${"\u0001".repeat(242)}@example.org`;
    expect((await request(service(), token, newEmail)).status).toBe(202);
    expect((await confirm(service(), await sign(service(), id, newEmail))).status).toBe(204);
  });
});

test("the new address gets the link, also of an imported user, and the old one a notification", async () => {
  await using server = await startMailServer();
  await using service = await startService({ env: EVERY_FEATURE });
  const { id, email, token } = await service.createUser();
  const imported = `pbkdf2_sha256$1$salt$${pbkdf2Sync(PASSWORD, "salt", 1, 32, "sha256").toString("base64")}`;
  await service.sql(
    `update users set hashed_password = '${bindImportedHash(imported)}', imported_hash = '${imported}'`,
  );
  await service.sql("delete from outbox");
  expect((await request(service, token, "new@example.org")).status).toBe(202);
  await using sender = await startSender(service, smtp(server));
  const [link] = await server.waitFor(1);
  expect(link).toMatchObject({ recipients: ["new@example.org"] });
  expect(link?.message).toContain(`${service.url}/account/change-email#token=`);
  expect((await confirm(service, link?.token ?? "")).status).toBe(204);
  const [, notification] = await server.waitFor(2);
  expect(notification).toMatchObject({ recipients: [email], token: "" });
  expect(notification?.message).not.toContain("new@example.org");
  await sender.drained();
  expect(sender.outcomes).toEqual(["sent email-change", "sent email"]);
  expect(await service.sql(`select id from outbox where user_id = ${id} and recipient is not null`)).toEqual(
    [],
  );
});

test("no link is sent to a taken or the own e-mail, or if the user has changed since the request", async () => {
  await using server = await startMailServer();
  await using service = await startService({ env: EVERY_FEATURE });
  const { users } = service.database;
  const changes: ((id: number, token: string) => unknown)[] = [
    (id) => users.revokeTokens(id),
    (id) => users.setActive(id, false),
    (id) => users.setActive(id, false).then(() => users.setActive(id, true)),
    (id) => users.delete(id),
    // A release without versions, and one that does not know this kind of mail.
    (id) => service.sql(`update users set hashed_password = 'other' where id = ${id}`),
    (id) => service.sql(`update users set token_version = token_version + 1 where id = ${id}`),
    (id) => service.register({ email: `new${id}@example.org` }),
  ];
  for (const change of changes) {
    const { id, token } = await service.createUser();
    expect((await request(service, token, `new${id}@example.org`)).status).toBe(202);
    await change(id, token);
  }
  const { id, email, token } = await service.createUser();
  for (const to of [email, `new${id}@example.org`]) await request(service, token, to);
  await service.sql("delete from outbox where kind <> 'email-change'");
  await using sender = await startSender(service, smtp(server));
  await sender.drained();
  expect(server.received.map(({ recipients }) => recipients)).toEqual([[`new${id}@example.org`]]);
  expect(await service.sql("select id from outbox")).toHaveLength(1);
});

test("requests count against the limit of password changes and of wrong current passwords", async () => {
  const env = { ...EVERY_FEATURE, RATE_LIMIT_ENABLED: "true", RATE_LIMIT_PASSWORD_CHANGE: "10/hour" };
  await using service = await startService({ env: { ...env, RATE_LIMIT_LOGIN: "100/hour" } });
  const { token } = await service.createUser();
  for (let index = 0; index < 10; index++) {
    const { status } = await request(service, token, "new@example.org", "wrong");
    expect(status).toBe(403);
  }
  const limited = await request(service, token, "new@example.org");
  expect([limited.status, limited.headers.get("ratelimit-limit")]).toEqual([429, "10"]);
});

test("by default, the routes and the page do not exist", async () => {
  await using service = await startService();
  const { token } = await service.createUser();
  for (const path of ["/auth/email-change", "/auth/email-change/confirm", "/account/change-email"]) {
    const response = await fetch(service.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    const expected = [path, 404, '{"detail":"Not Found","code":"NOT_FOUND"}'];
    expect([path, response.status, await response.text()]).toEqual(expected);
  }
});
