/** Logins with a code from a mail: the code is what the mail sender computes, because no test reads it from the database. */
import { expect, test } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { createMemoryStore } from "../../../src/rate-limit/store.ts";
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

test("a state allows five attempts, an e-mail ten an hour, also without rate limits and for an unknown e-mail", async () => {
  await using service = await startService({ env: EMAIL_LOGIN });
  const user = await createVerified(service);
  for (const { id, email } of [user, { id: user.id, email: "nobody@example.org" }]) {
    const first = await beginFor(service, { id, email });
    // 50 guesses at once, as from many places.
    const guesses = Array.from({ length: 50 }, () => login(service, first.state, wrong(first.code)));
    for (const { status } of await Promise.all(guesses)) expect(status).toBe(401);
    expect((await login(service, first.state, first.code)).status).toBe(401);
    const second = await beginFor(service, { id, email });
    for (let attempt = 0; attempt < 5; attempt++)
      expect((await login(service, second.state, wrong(second.code))).status).toBe(401);
    const third = await beginFor(service, { id, email });
    const limited = await login(service, third.state, third.code);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeWithin(3_500, 3_601);
  }
});

test("an e-mail allows twenty attempts a day", async () => {
  let now = 0;
  await using service = await startService({ env: EMAIL_LOGIN, store: createMemoryStore(() => now) });
  const user = await createVerified(service);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 21; attempt++) {
    // Another hour, in which ten attempts are allowed.
    if (attempt % 10 === 0) now += 3_600_001;
    const { state, code } = await beginFor(service, user);
    statuses.push((await login(service, state, wrong(code))).status);
  }
  expect(statuses).toEqual([...Array(20).fill(401), 429]);
});

test("a stranger cannot use up the attempts of a familiar network", async () => {
  await using service = await startService({
    env: { ...EMAIL_LOGIN, RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "1000/minute", TRUST_PROXY: "1" },
  });
  const user = await createVerified(service);
  await service.login(user);
  const from = (address: string, state: string, code: string) =>
    service.call("POST", "/auth/login/email", {
      body: { state, code },
      headers: { "x-forwarded-for": address },
    });
  for (let round = 0; round < 3; round++) {
    const { state, code } = await beginFor(service, user);
    for (let attempt = 0; attempt < 5; attempt++) await from("203.0.113.9", state, wrong(code));
  }
  const { state, code } = await beginFor(service, user);
  expect((await from("203.0.113.9", state, code)).status).toBe(429);
  expect((await login(service, state, code)).status).toBe(200);
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
