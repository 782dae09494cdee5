/** Logins with OpenID Connect providers: which user an identity gets, and what is rejected. The provider can send anything. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Identity, User } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import type { CallOptions } from "../../support/client.ts";
import { enrolFactor } from "../../support/factors.ts";
import { forge, openToken } from "../../support/forge-token.ts";
import { beginOidc, loginOidc, oidcBody, oidcVariables, tokenOf } from "../../support/identities.ts";
import { startHostileProvider } from "../../support/openid/hostile-provider.ts";
import { createVerified } from "../../support/passkeys.ts";
import { eachDatabase, newCredentials, type Service, type TestUser } from "../../support/service.ts";

const readMe = async ({ call }: Service, token: string) =>
  (await call("GET", "/auth/me", { token })).expect<User>(200);
const statusOf = async ({ call }: Service, path: string, options: CallOptions, method = "GET") =>
  (await call(method, path, options)).status;
const kindsOf = async ({ sql }: Service) =>
  (await sql<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);
const identitiesOf = async ({ call }: Service, token: string) =>
  (await call("GET", "/auth/identities", { token })).expect<Identity[]>(200);

eachDatabase((start) => {
  test("the first login creates a user without a password, and the second finds it", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    const claims = { email: " Ada@Example.ORG ", preferred_username: "ada" };
    const token = tokenOf(await loginOidc(service, provider, { claims }));
    const user = await readMe(service, token);
    expect(user).toMatchObject({ email: "ada@example.org", email_verified: true, username: "ada" });
    expect(await service.readUser(user.id)).toMatchObject({ importedHash: "none" });
    // The provider has changed the e-mail of the user. The identity stays the same.
    const changed = { claims: { email: "other@example.org", email_verified: false } };
    const again = tokenOf(await loginOidc(service, provider, changed));
    expect((await readMe(service, again)).id).toBe(user.id);
    const password = { email: user.email, password: "none" };
    expect(await statusOf(service, "/auth/login", { body: password }, "POST")).toBe(401);
    expect(await identitiesOf(service, again)).toEqual([
      {
        id: expect.any(Number),
        provider: "example",
        created_at: expect.any(String),
        last_used_at: expect.any(String),
      },
    ]);
    expect(service.log.filter(({ reason }) => reason === "no_password")).toHaveLength(1);
  });

  test("with closed registration, a first login creates nobody, and the users who exist log in and add identities", async () => {
    await using provider = await startHostileProvider();
    const closed = { AUTH_REGISTRATION: "closed" };
    await using service = await start({ env: { ...oidcVariables([provider, { link: true }]), ...closed } });
    const login = async (claims: Record<string, unknown>) => {
      const { status, body } = await loginOidc(service, provider, { claims });
      return [status, (body as { code?: string }).code];
    };
    const refused = [403, "REGISTRATION_CLOSED"];
    expect(await login({ sub: "new", email: "new@example.org" })).toEqual(refused);
    expect(await login({ sub: "new", email: "new@example.org", email_verified: false })).toEqual([
      403,
      "EMAIL_NOT_VERIFIED",
    ]);
    const { id } = await service.database.users.create({
      ...{ email: "ada@example.org", username: "ada", hashedPassword: "s$d", emailVerified: true },
    });
    expect(await login({ sub: "ada", email: "ada@example.org" })).toEqual([200, undefined]);
    expect(await login({ sub: "ada", email: "other@example.org" })).toEqual([200, undefined]);
    expect(await service.database.users.delete(id)).toBe(true);
    expect(await login({ sub: "ada", email: "ada@example.org" })).toEqual(refused);
    expect(await service.sql("select id from users")).toEqual([]);
    const reasons = service.log.filter(({ event }) => event === "identity.rejected");
    expect(reasons.map(({ reason }) => reason)).toEqual(["closed", "unverified", "closed"]);
  });

  test("a generated username is free, and a given one that is taken is not replaced", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    await service.createUser({ username: "ada" });
    const login = (sub: string, more: object = {}, body: Record<string, string> = {}) =>
      loginOidc(service, provider, { claims: { sub, email: `${sub}@example.org`, ...more } }, body);
    const nameOf = async (response: Awaited<ReturnType<typeof login>>) =>
      (await readMe(service, tokenOf(response))).username;
    expect(await nameOf(await login("one", { preferred_username: "ada" }))).toBe("ada2");
    expect(await nameOf(await login("two", { preferred_username: "\u200b" }))).toBe("user");
    expect(await nameOf(await login("three", {}, { username: "countess" }))).toBe("countess");
    const taken = await login("four", {}, { username: "ada" });
    expect([taken.status, taken.body]).toMatchObject([
      409,
      { code: "USER_ALREADY_EXISTS", field: "username" },
    ]);
    expect((await Promise.all([login("five"), login("five")])).map(({ status }) => status)).toEqual([
      200, 200,
    ]);
  });

  test("a first login that another one of the same identity overtakes is a login of the user whom that one created", async () => {
    await using provider = await startHostileProvider();
    const logIn = async () =>
      (await loginOidc(service, provider, { claims: { sub: "ada", email: "ada@example.org" } })).status;
    const overtaking: Promise<number>[] = [];
    const wrapDatabase = ({ users }: Database) => ({
      users: {
        ...users,
        async findByEmail(email: string) {
          if (overtaking.length === 0) await overtaking[overtaking.push(logIn()) - 1];
          return users.findByEmail(email);
        },
      },
    });
    await using service = await start({ env: oidcVariables([provider]), wrapDatabase });
    expect([await logIn(), await overtaking[0]]).toEqual([200, 200]);
    expect(await service.sql("select 1 from users")).toHaveLength(1);
  });

  test("an e-mail that the provider has not verified creates nobody and logs in nobody", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider, { link: true }]) });
    const { id, email } = await createVerified(service);
    provider.reply({ userInfo: { sub: "1", preferred_username: "ada" } });
    for (const claims of [
      { email, email_verified: false },
      { email, email_verified: undefined },
      { email, email_verified: "false" },
      { email, email_verified: 1 },
      { email: undefined },
    ]) {
      const response = await loginOidc(service, provider, { claims });
      expect([response.status, response.body]).toMatchObject([403, { code: "EMAIL_NOT_VERIFIED" }]);
    }
    expect(
      tokenOf(await loginOidc(service, provider, { claims: { email, email_verified: "true" } })),
    ).not.toBe("");
    expect(await service.database.identities.list(id)).toHaveLength(1);
    expect(await service.database.users.list({ after: 0, limit: 5 })).toHaveLength(1);
  });

  test("an e-mail whose lower case is that of another mailbox opens no account", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider, { link: true }]) });
    const { id } = await service.createUser({ email: "kate@example.org" });
    await service.database.users.update(id, { emailVerified: true });
    const claims = { email: "\u212aate@example.org" };
    const response = await loginOidc(service, provider, { claims });
    expect([response.status, response.body]).toMatchObject([401, { code: "IDENTITY_REJECTED" }]);
    expect(await service.database.identities.list(id)).toEqual([]);
  });

  test("a subject that a database cannot store, or not distinguish from others, is rejected", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    const login = async (sub: string) => (await loginOidc(service, provider, { claims: { sub } })).status;
    for (const sub of ["", "a\0b", "\ud800", randomBytes(2_000).toString("base64")])
      expect(await login(sub)).toBe(401);
    expect(await login("x".repeat(255))).toBe(200);
  });

  test("without `link`, a provider opens no account that exists, verified or not", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    for (const user of [await service.createUser(), await createVerified(service)]) {
      const response = await loginOidc(service, provider, { claims: { email: user.email } });
      expect([response.status, response.body]).toMatchObject([
        409,
        { code: "USER_ALREADY_EXISTS", field: "email" },
      ]);
      expect(await service.database.identities.list(user.id)).toEqual([]);
    }
  });

  test("with `link`, the identity is added to a verified e-mail, what remains is kept, and the user is notified", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider, { link: true }]) });
    const { id, email, token } = await createVerified(service);
    await service.sql("delete from outbox");
    const linked = await loginOidc(service, provider, { claims: { email } });
    expect((await readMe(service, tokenOf(linked))).id).toBe(id);
    expect(await statusOf(service, "/auth/me", { token })).toBe(200);
    expect(await kindsOf(service)).toEqual(["identity"]);
    // The provider has given the e-mail to somebody else: another subject is another identity of the same e-mail.
    await loginOidc(service, provider, { claims: { email, sub: "2" } });
    expect(await kindsOf(service)).toEqual(["identity", "identity"]);
  });

  test("with `link`, a user with a second factor gets no identity, however the factor was enrolled", async () => {
    await using provider = await startHostileProvider();
    const env = { ...oidcVariables([provider, { link: true }]), AUTH_SECOND_FACTOR: "true" };
    await using service = await start({ env });
    const user = await enrolFactor(service, await createVerified(service));
    for (const wasVerified of [true, false]) {
      await service.sql(`update factors set was_verified = ${wasVerified}`);
      expect((await loginOidc(service, provider, { claims: { email: user.email } })).status).toBe(409);
    }
    expect(await service.database.identities.list(user.id)).toEqual([]);
  });

  test("with `link`, an e-mail that somebody else registered first is taken over, and every earlier credential ends", async () => {
    await using provider = await startHostileProvider();
    const env = {
      ...oidcVariables([provider, { link: true }]),
      PASSKEY_ORIGINS: "http://localhost:3000",
      AUTH_EMAIL_CHANGE: "true",
    };
    await using service = await start({ env });
    const attacker = await service.createUser();
    const { id, email, password } = attacker;
    const passkey = { id: "one", userId: id, publicKey: "key", counter: 0, name: "Attacker" };
    const state = { version: 0, exceptToken: null, tokenVersion: 0, revision: 0 };
    await service.database.passkeys.create(passkey, state, { notifies: false });
    const change = { email: "attacker@example.net", current_password: password };
    const options = { token: attacker.token, body: change };
    expect(await statusOf(service, "/auth/email-change", options, "POST")).toBe(202);
    const owner = await readMe(service, tokenOf(await loginOidc(service, provider, { claims: { email } })));
    expect(owner).toMatchObject({ id, email, email_verified: true });
    expect(await statusOf(service, "/auth/me", { token: attacker.token })).toBe(401);
    expect(await statusOf(service, "/auth/login", { body: { email, password } }, "POST")).toBe(401);
    expect(await service.database.passkeys.list(id)).toEqual([]);
    expect(await service.readUser(id)).toMatchObject({ pendingEmail: null, importedHash: "none" });
    expect((await kindsOf(service)).at(-1)).toBe("takeover");
    expect(service.log.filter(({ event }) => event === "user.taken_over")).toHaveLength(1);
  });

  test("an inactive user is treated as after a correct password, and nothing is written", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider, { link: true }]) });
    const [known, unknown] = [await createVerified(service), await service.createUser()];
    await loginOidc(service, provider, { claims: { email: known.email, sub: "known" } });
    const [identity] = await service.database.identities.list(known.id);
    await service.sql("update users set is_active = false");
    await service.sql("delete from outbox");
    for (const [sub, { email }] of [
      ["known", known],
      ["unknown", unknown],
    ] as const) {
      const token = tokenOf(await loginOidc(service, provider, { claims: { email, sub } }));
      expect(await statusOf(service, "/auth/me", { token })).toBe(403);
    }
    expect(await service.database.identities.list(known.id)).toEqual(identity ? [identity] : []);
    expect(await service.database.identities.list(unknown.id)).toEqual([]);
    expect(await service.readUser(unknown.id)).toMatchObject({ emailVerified: false, importedHash: null });
    expect(await kindsOf(service)).toEqual([]);
  });

  test("a user adds an identity with the password, and removes it; another user cannot have it", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    const [ada, bob] = [await createVerified(service), await createVerified(service)];
    await service.sql("delete from outbox");
    const add = async ({ token, password }: typeof ada, current_password: string | undefined = password) => {
      const { url, body } = await beginOidc(service);
      const code = provider.authorize(url, { claims: { email_verified: false } });
      return service.call("POST", "/auth/identities/example", {
        token,
        body: { ...body, code, iss: provider.issuer, current_password },
      });
    };
    expect((await add(ada, "wrong")).body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    const missing = await service.call("POST", "/auth/identities/example", {
      token: ada.token,
      body: { ...(await beginOidc(service)).body, code: "x" },
    });
    expect([missing.status, missing.body]).toMatchObject([
      422,
      { detail: [{ loc: ["body", "current_password"] }] },
    ]);
    const { id } = (await add(ada)).expect<Identity>(201);
    expect((await add(ada)).expect<Identity>(201).id).toBe(id);
    expect((await add(bob)).body).toMatchObject({ code: "IDENTITY_ALREADY_USED" });
    expect(await kindsOf(service)).toEqual(["identity"]);
    const remove = ({ token, password }: typeof ada, of: string | number, proof: object = {}) => {
      const body = { current_password: password, ...proof };
      return statusOf(service, `/auth/identities/${of}/removal`, { token, body }, "POST");
    };
    const withoutProof = await service.call("DELETE", `/auth/identities/${id}`, { token: ada.token });
    expect([withoutProof.status, withoutProof.body]).toMatchObject([403, { code: "OWNER_PROOF_REQUIRED" }]);
    expect(await remove(ada, id, { current_password: "wrong" })).toBe(403);
    expect(await remove(ada, id, { current_password: undefined })).toBe(422);
    expect(await remove(bob, id)).toBe(404);
    expect(await remove(bob, "x")).toBe(422);
    expect(await remove(ada, id)).toBe(204);
    expect(await identitiesOf(service, ada.token)).toEqual([]);
    expect(await kindsOf(service)).toEqual(["identity", "identity"]);
    const events = service.log.filter(({ event }) => /^identity/.test(String(event)));
    expect(events.map(({ event, user_id }) => [event, user_id])).toEqual([
      ["identity.created", ada.id],
      ["identity.created", ada.id],
      ["identity.removed", ada.id],
    ]);
  });

  test("with mail, an identity is added only to a verified e-mail, because its owner would not know of the identity", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider]) });
    const refused = [403, { code: "EMAIL_NOT_VERIFIED" }];
    const add = async (on: Service, { token, password }: TestUser, current_password = password) => {
      const body = { ...(await oidcBody(on, provider)), current_password };
      const { status, body: added } = await on.call("POST", "/auth/identities/example", { token, body });
      return [status, added];
    };
    const stranger = await service.createUser();
    expect(await add(service, stranger)).toMatchObject(refused);
    expect(await add(service, stranger, "wrong")).toMatchObject([
      403,
      { code: "CURRENT_PASSWORD_INCORRECT" },
    ]);
    // The verification ends while the provider responds.
    const owner = await createVerified(service);
    provider.reply({
      respond: async (path) => {
        if (path === "/token") await service.sql("update users set email_verified = false");
        return undefined;
      },
    });
    expect(await add(service, owner)).toMatchObject(refused);
    provider.reply({});
    for (const { id } of [stranger, owner]) expect(await service.database.identities.list(id)).toEqual([]);
    await service.sql("update users set email_verified = true");
    expect(await add(service, owner)).toMatchObject([201, { provider: "example" }]);
    await using silent = await start({ env: { ...oidcVariables([provider]), NODE_ENV: "production" } });
    expect(await add(silent, await silent.createUser())).toMatchObject([201, { provider: "example" }]);
  });

  test("a user with ten identities gets no other one, and keeps those", async () => {
    await using provider = await startHostileProvider();
    await using service = await start({ env: oidcVariables([provider, { link: true }]) });
    const { email, password, token } = await createVerified(service);
    const log = (sub: string) => loginOidc(service, provider, { claims: { email, sub } });
    for (let sub = 0; sub < 10; sub++) tokenOf(await log(`${sub}`));
    const code = "TOO_MANY_IDENTITIES";
    expect([(await log("10")).status, (await log("10")).body]).toMatchObject([409, { code }]);
    const body = {
      ...(await oidcBody(service, provider, { claims: { sub: "10" } })),
      current_password: password,
    };
    const added = await service.call("POST", "/auth/identities/example", { token, body });
    expect([added.status, added.body]).toMatchObject([409, { code }]);
    expect((await log("9")).status).toBe(200);
    expect(await identitiesOf(service, token)).toHaveLength(10);
  });

  test("a user without a password proves a recent login, and keeps the last way to log in", async () => {
    await using provider = await startHostileProvider();
    // Without mail, a reset is no way to log in.
    const production = {
      ...{ NODE_ENV: "production", AUTH_SECRET_KEY: "production 0123456789 abcdefghij" },
      ...{ PASSKEY_ORIGINS: "http://localhost:3000", AUTH_CLAIMS: undefined },
    };
    await using service = await start({ env: { ...oidcVariables([provider]), ...production } });
    const token = tokenOf(await loginOidc(service, provider));
    const [identity] = await identitiesOf(service, token);
    const remove = await service.call("POST", `/auth/identities/${identity?.id}/removal`, {
      token,
      body: {},
    });
    expect([remove.status, remove.body]).toMatchObject([409, { code: "LAST_LOGIN" }]);
    const options = { token, body: {} };
    expect(await statusOf(service, "/auth/passkeys/options", options, "POST")).toBe(200);
    const { claims } = openToken(token);
    const old = forge({
      claims: { ...claims, auth_time: Number(claims.auth_time) - 301 },
      key: production.AUTH_SECRET_KEY,
    });
    const password = newCredentials().password;
    for (const body of [{ password }, { password, current_password: "any" }, { current_password: "any" }]) {
      const change = await service.call("PATCH", "/auth/me", { token: old, body });
      expect([change.status, change.body]).toMatchObject([403, { code: "RECENT_LOGIN_REQUIRED" }]);
    }
    expect(await statusOf(service, "/auth/passkeys/options", { token: old, body: {} }, "POST")).toBe(403);
    expect(await statusOf(service, "/auth/me", { token, body: { password } }, "PATCH")).toBe(200);
    expect(await statusOf(service, "/auth/passkeys/options", options, "POST")).toBe(422);
    const proof = { token, body: { current_password: password } };
    expect(await statusOf(service, `/auth/identities/${identity?.id}/removal`, proof, "POST")).toBe(204);
  });
});
