/** Logins with a code from a mail: the code is what the mail sender computes, because no test reads it from the database. */
import { expect, test } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { watchCodeAttempts } from "../../support/code-attempts.ts";
import { codeBody as beginFor } from "../../support/identities.ts";
import { createVerified } from "../../support/passkeys.ts";
import { eachDatabase, type Service, startService } from "../../support/service.ts";

const EMAIL_LOGIN = { AUTH_EMAIL_LOGIN: "true" };

const begin = async ({ call }: Service, email: string) =>
  (await call("POST", "/auth/login/email/options", { body: { email } })).expect<{ state: string }>(200).state;
const login = ({ call }: Service, state: string, code: string) =>
  call("POST", "/auth/login/email", { body: { state, code } });
const kindsOf = async ({ sql }: Service) =>
  (await sql<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);
const wrong = (code: string) => String((Number(code) + 1) % 1e8).padStart(8, "0");

eachDatabase((start) => {
  test("a code logs in once, also with spaces, and ends all other codes of the user", async () => {
    await using service = await start({ env: { ...EMAIL_LOGIN, PASSKEY_ORIGINS: "http://localhost:3000" } });
    const user = await createVerified(service);
    await service.sql("delete from outbox");
    const [first, second] = [await beginFor(service, user), await beginFor(service, user)];
    expect(first.code).toMatch(/^\d{8}$/);
    expect(first.code).not.toBe(second.code);
    expect((await login(service, second.state, first.code)).body).toMatchObject({
      code: "LOGIN_CODE_INVALID",
    });
    const spaced = `${first.code.slice(0, 4)} ${first.code.slice(4)} `;
    const { access_token: token } = (await login(service, first.state, spaced)).expect<Token>(200);
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ amr: ["otp"], auth_time: expect.any(Number) });
    expect((await service.call("GET", "/auth/me", { token })).expect<User>(200).id).toBe(user.id);
    expect((await login(service, first.state, first.code)).status).toBe(401);
    expect((await login(service, second.state, second.code)).status).toBe(401);
    expect((await service.call("GET", "/auth/me", { token: user.token })).status).toBe(200);
    expect(await kindsOf(service)).toEqual(["login-code", "login-code"]);
    const events = service.log.map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(["login_code.requested", "login_code.rejected"]));
    for (const code of [first.code, second.code, spaced])
      expect(JSON.stringify(service.log)).not.toContain(code);
  });

  test("of five parallel logins with one code, one succeeds", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const user = await createVerified(service);
    const states = [];
    // Five attempts per state: two states of one code would need two codes, so each state gets five of its own.
    const { state, code } = await beginFor(service, user);
    for (let index = 0; index < 5; index++) states.push(state);
    const responses = await Promise.all(states.map((one) => login(service, one, code)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  });

  test("of forty parallel guesses, exactly five are compared, and a sixth attempt is rejected like a wrong code", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const user = await createVerified(service);
    const { state, code } = await beginFor(service, user);
    const guesses = Array.from({ length: 40 }, () => login(service, state, wrong(code)));
    for (const { status } of await Promise.all(guesses)) expect(status).toBe(401);
    const attempts = "select code_attempts as count from outbox where kind = 'login-code'";
    expect(await service.sql(attempts)).toEqual([{ count: 5 }]);
    expect((await login(service, state, code)).body).toMatchObject({ code: "LOGIN_CODE_INVALID" });
    // Attempts with one state, or with that of an unknown e-mail, are not those of another.
    const unknown = await begin(service, "nobody@example.org");
    for (let guess = 0; guess < 30; guess++)
      expect((await login(service, unknown, "12345678")).status).toBe(401);
    for (let round = 0; round < 5; round++) {
      const guessed = await beginFor(service, user);
      for (let guess = 0; guess < 5; guess++) await login(service, guessed.state, wrong(guessed.code));
    }
    const next = await beginFor(service, user);
    for (let guess = 0; guess < 4; guess++) await login(service, next.state, wrong(next.code));
    expect((await login(service, next.state, next.code)).status).toBe(200);
  });

  test("of parallel attempts with one state, one at a time uses a connection", async () => {
    const { seen, wrapDatabase } = watchCodeAttempts();
    await using service = await start({ env: EMAIL_LOGIN, wrapDatabase });
    const state = await begin(service, "nobody@example.org");
    const guesses = Array.from({ length: 20 }, () => login(service, state, "12345678"));
    for (const { status } of await Promise.all(guesses)) expect(status).toBe(401);
    expect(seen.mostRunning).toBe(1);
    expect(seen.attempts).toBeGreaterThanOrEqual(5);
    expect((await login(service, state, "12345678")).status).toBe(401);
  });

  test("a code is valid only while the outbox has its mail, which an attempt to send it keeps for a day", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const { outbox } = service.database;
    const user = await createVerified(service);
    const sent = "kind = 'login-code' and attempted_at is not null";
    const changes = {
      "before an attempt to send it": "update outbox set attempted_at = null, attempts = 0",
      "if the mail was suppressed": "update outbox set email_digest = null",
      "without the mail": `delete from outbox where ${sent}`,
      "of another user": `update outbox set user_id = user_id + 1 where ${sent}`,
    };
    for (const change of Object.values(changes)) {
      const { state, code } = await beginFor(service, user);
      await service.sql(change);
      expect((await login(service, state, code)).status).toBe(401);
    }
    await service.sql("delete from outbox");
    const { state, code } = await beginFor(service, user);
    const [row] = await service.sql<{ id: number; state: string }>("select id, state from outbox");
    const mail = { kind: "login-code", emailDigest: "digest", state: row?.state ?? "" } as const;
    await outbox.finish(Number(row?.id));
    await outbox.discard({ id: Number(row?.id), ...mail });
    await outbox.deleteOld();
    expect((await login(service, state, code)).status).toBe(200);
  });

  test("a code from before a password change, revocation or change of the e-mail is invalid", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const changes: ((user: Awaited<ReturnType<typeof createVerified>>) => Promise<unknown>)[] = [
      ({ token }) =>
        service.call("PATCH", "/auth/me", { token, body: { password: "another long password" } }),
      ({ token }) => service.call("DELETE", "/auth/tokens", { token }),
      ({ id }) => service.database.users.changeAsOperator(id, { email: `new${id}@example.org` }),
      ({ token }) => service.call("DELETE", "/auth/me", { token }),
    ];
    for (const change of changes) {
      const user = await createVerified(service);
      const { state, code } = await beginFor(service, user);
      await change(user);
      expect((await login(service, state, code)).status).toBe(401);
    }
  });

  test("the first login to an e-mail that was not verified ends every earlier credential, which is mailed", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const attacker = await service.createUser();
    const { state, code } = await beginFor(service, attacker);
    const { access_token: token } = (await login(service, state, code)).expect<Token>(200);
    const owner = await service.call("GET", "/auth/me", { token });
    expect(owner.expect<User>(200)).toMatchObject({ id: attacker.id, email_verified: true });
    expect((await service.call("GET", "/auth/me", { token: attacker.token })).status).toBe(401);
    const { email, password } = attacker;
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
    expect(await service.readUser(attacker.id)).toMatchObject({ importedHash: "none" });
    expect((await kindsOf(service)).at(-1)).toBe("takeover");
    // Without a password, the recent login proves the owner.
    const body = { password: "a password of the owner" };
    expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(200);
    expect(await service.login({ email, password: body.password })).not.toBe("");
  });

  test("an inactive user is treated as after a correct password, and keeps the credentials", async () => {
    await using service = await start({ env: EMAIL_LOGIN });
    const user = await service.createUser();
    const { state, code } = await beginFor(service, user);
    await service.database.users.changeAsOperator(user.id, { isActive: false });
    const { access_token: token } = (await login(service, state, code)).expect<Token>(200);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(403);
    expect(await service.readUser(user.id)).toMatchObject({
      emailVerified: false,
      importedHash: null,
      tokenVersion: 0,
    });
  });
});

test("the response to a request is the same for an unknown e-mail, and a forged or expired state is rejected", async () => {
  await using service = await startService({ env: EMAIL_LOGIN });
  const { email } = await service.createUser();
  const [known, unknown] = [await begin(service, email), await begin(service, "nobody@example.org")];
  expect(known.length - email.length).toBeWithin(
    unknown.length - "nobody@example.org".length - 8,
    unknown.length - "nobody@example.org".length + 9,
  );
  for (const state of ["", "x", `${known}x`, unknown])
    expect((await login(service, state, "12345678")).status).toBe(401);
});

test("with closed registration, the responses to an unknown e-mail are those to a registered one, and nobody is created", async () => {
  await using service = await startService({ env: { ...EMAIL_LOGIN, AUTH_REGISTRATION: "closed" } });
  const names = { email: "ada@example.org", username: "ada", hashedPassword: "s$d" };
  const { id, email } = await service.database.users.create(names);
  const answer = async (address: string) => {
    const { status, body } = await login(service, await begin(service, address), "12345678");
    return [status, body];
  };
  expect(await answer("nobody@example.org")).toEqual(await answer(email));
  const { state, code } = await beginFor(service, { id, email });
  expect((await login(service, state, code)).status).toBe(200);
  expect(await service.sql("select id from users")).toEqual([{ id }]);
});

test("a code is rejected fifty milliseconds after its attempt began, whether or not a mail was sent to a user", async () => {
  await using service = await startService({ env: EMAIL_LOGIN });
  const { email } = await service.createUser();
  for (const state of [await begin(service, email), await begin(service, "nobody@example.org"), "forged"]) {
    const startedAt = performance.now();
    expect((await login(service, state, "12345678")).status).toBe(401);
    expect(performance.now() - startedAt).toBeGreaterThan(49);
  }
});
