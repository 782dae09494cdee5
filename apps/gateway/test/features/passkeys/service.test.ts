/** The rules of passkeys, and the sequences by which others could be attacked. */
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import type { Passkey } from "@latchkey/contracts";
import { decodeJwt } from "jose";
import { createAuthenticator, type Deviations } from "../../support/authenticator.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import {
  createVerified,
  creationOptions,
  enrol,
  logIn,
  loginBody,
  loginOptions,
  requestOptions,
  startWithPasskeys,
} from "../../support/passkeys.ts";
import { eachDatabase, type Service, startService, type TestUser } from "../../support/service.ts";

const INVALID = { detail: "Invalid or expired link", code: "ONE_TIME_TOKEN_INVALID" };
const REJECTED = { detail: "Incorrect e-mail or password", code: "INVALID_CREDENTIALS" };

const create = ({ call }: Service, { token }: TestUser, body: object) =>
  call("POST", "/auth/passkeys", { token, body: { name: "Phone", ...body } });
const list = async ({ call }: Service, { token }: TestUser) =>
  (await call("GET", "/auth/passkeys", { token })).expect<Passkey[]>(200);
const remove = ({ call }: Service, { token }: TestUser, id: string) =>
  call("DELETE", `/auth/passkeys/${id}`, { token });
const amrOf = (response: { expect<Body>(status: number): Body }) =>
  decodeJwt(response.expect<{ access_token: string }>(200).access_token).amr;
/** Why the latest response was rejected, which only the log tells. */
async function latestReason(service: Service) {
  await service.request("/healthz");
  return service.log.findLast(({ event }) => event === "passkey.rejected")?.reason;
}

afterEach(() => void setSystemTime());

eachDatabase((start) => {
  test.each(["ES256", "EdDSA", "RS256"] as const)(
    "a user creates, uses and removes a passkey of %s",
    async (algorithm) => {
      await using service = await startWithPasskeys({}, start);
      const user = await createVerified(service);
      const { passkey, ...authenticator } = await enrol(service, user, createAuthenticator(algorithm));
      expect(passkey).toMatchObject({ id: authenticator.id, name: "Phone", last_used_at: null });
      expect(await list(service, user)).toEqual([passkey]);
      const derivations = service.derivations();
      expect(amrOf(await logIn(service, await loginBody(service, authenticator)))).toEqual(["pop", "user"]);
      expect(service.derivations()).toBe(derivations);
      expect((await list(service, user))[0]?.last_used_at).toBeString();
      const unused = await loginBody(service, authenticator);
      expect((await remove(service, user, passkey.id)).status).toBe(204);
      expect((await remove(service, user, passkey.id)).body).toMatchObject({ code: "PASSKEY_NOT_FOUND" });
      const rejected = await logIn(service, unused);
      expect([rejected.status, rejected.body]).toEqual([401, REJECTED]);
      expect(await latestReason(service)).toBe("credential");
      const events = service.log
        .map(({ event }) => event)
        .filter((event) => String(event).startsWith("passkey"));
      expect(events).toEqual(["passkey.created", "passkey.removed", "passkey.rejected"]);
    },
  );

  test("of 20 parallel identical responses one logs in, and the response never does again", async () => {
    await using service = await startWithPasskeys({}, start);
    const user = await createVerified(service);
    const authenticator = await enrol(service, user);
    const body = await loginBody(service, authenticator);
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => logIn(service, body)))).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    // Not even after the statement has expired at this replica, while it is valid at one whose clock is slower.
    setSystemTime(Date.now() + 5 * 60_000 + 1_000);
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(200);
    setSystemTime(Date.now() - 2_000);
    expect((await logIn(service, body)).status).toBe(401);
    expect(await latestReason(service)).toBe("used");
  });

  test("a reset deletes the passkeys; a password change and a revocation keep them", async () => {
    await using service = await startWithPasskeys({}, start);
    const { database, call } = service;
    const user = await createVerified(service);
    const authenticator = await enrol(service, user);
    const password = "a new long passphrase";
    await call("PATCH", "/auth/me", { token: user.token, body: { password } });
    await call("DELETE", "/auth/tokens", { token: user.token });
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(200);
    const stored = await database.users.findById(user.id);
    if (!stored) throw new Error("No user");
    const body = { token: signOneTimeToken("reset", stored), password };
    expect((await call("POST", "/auth/password-reset/confirm", { body })).status).toBe(204);
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(401);
    expect(await database.passkeys.list(user.id)).toEqual([]);
  });
});

test("a login that a reset overtakes gets a token that is already revoked", async () => {
  await using service = await startWithPasskeys({
    wrapDatabase: ({ users, passkeys }) => ({
      passkeys: {
        async use(use) {
          const isUsed = await passkeys.use(use);
          await users.update(1, { hashedPassword: "reset$digest" });
          return isUsed;
        },
      },
    }),
  });
  const authenticator = await enrol(service, await createVerified(service));
  const login = await logIn(service, await loginBody(service, authenticator));
  const { access_token: token } = login.expect<{ access_token: string }>(200);
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(401);
});

test("a login that a change of e-mail overtakes never logs in who registers the old one", async () => {
  await using service = await startWithPasskeys({
    wrapDatabase: ({ users, passkeys }) => ({
      passkeys: {
        async use(use) {
          const isUsed = await passkeys.use(use);
          const user = await users.findById(1);
          if (!user) throw new Error("No user");
          await users.changeEmail(user, "new@example.org", { version: 0, tokenId: null });
          await users.create({ email: user.email, username: "other", hashedPassword: "other$digest" });
          return isUsed;
        },
      },
    }),
  });
  const authenticator = await enrol(service, await createVerified(service));
  expect((await logIn(service, await loginBody(service, authenticator))).body).toEqual(REJECTED);
});

describe("with one user", async () => {
  const service = await startWithPasskeys();
  const user = await createVerified(service);
  const other = await createVerified(service);

  test("nobody removes or creates passkeys of another user, and a stolen token alone creates none", async () => {
    const { passkey } = await enrol(service, user);
    expect((await remove(service, other, passkey.id)).status).toBe(404);
    expect((await remove(service, user, `${passkey.id}%00`)).status).toBe(422);
    expect(await list(service, user)).toContainEqual(passkey);
    expect(await list(service, other)).toEqual([]);
    const stolen = await requestOptions(service, { ...user, password: "not the password" });
    expect(stolen.body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    expect(
      (await service.call("POST", "/auth/passkeys/options", { token: user.token, body: {} })).status,
    ).toBe(422);
    expect((await service.call("POST", "/auth/passkeys/options", { body: {} })).status).toBe(401);
    const { options, state } = await creationOptions(service, user);
    const foreign = await create(service, other, { state, response: createAuthenticator().create(options) });
    expect([foreign.status, foreign.body]).toEqual([400, INVALID]);
  });

  test("a passkey requires a verified e-mail if mail is configured", async () => {
    const unverified = await service.createUser();
    const refused = await requestOptions(service, unverified);
    expect([refused.status, refused.body]).toMatchObject([403, { code: "EMAIL_NOT_VERIFIED" }]);
    const wrong = await requestOptions(service, { ...unverified, password: "not the password" });
    expect(wrong.body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    await using withoutMail = await startWithPasskeys({ env: { NODE_ENV: "production" } });
    await enrol(withoutMail, await withoutMail.createUser());
  });

  test("the handle of a user is random and stays, and existing passkeys are excluded", async () => {
    const one = await createVerified(service);
    const { options } = await creationOptions(service, one);
    const { passkey } = await enrol(service, one);
    const again = (await creationOptions(service, one)).options;
    expect(Buffer.from(options.user.id, "base64url")).toHaveLength(16);
    expect(again.user.id).toBe(options.user.id);
    expect((await creationOptions(service, other)).options.user.id).not.toBe(options.user.id);
    expect<unknown>(again).toMatchObject({
      rp: { id: "localhost" },
      attestation: "none",
      excludeCredentials: [{ type: "public-key", id: passkey.id }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  });

  test("a state creates one passkey, for the state of the user in which it was issued, and a user has at most ten", async () => {
    const one = await createVerified(service);
    const { options, state } = await creationOptions(service, one);
    const parallel = await Promise.all(
      Array.from({ length: 10 }, () =>
        create(service, one, { state, response: createAuthenticator().create(options) }),
      ),
    );
    expect(parallel.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 400),
    ]);
    const outdated = await creationOptions(service, one);
    const password = "a new long passphrase";
    await service.call("PATCH", "/auth/me", { token: one.token, body: { password } });
    const response = createAuthenticator().create(outdated.options);
    expect((await create(service, one, { state: outdated.state, response })).body).toEqual(INVALID);
    const renewed = { ...one, password };
    for (let count = 2; count <= 10; count++) await enrol(service, renewed);
    await expect(enrol(service, renewed)).rejects.toThrow("ONE_TIME_TOKEN_INVALID");
    expect(await list(service, one)).toHaveLength(10);
  });

  test.each<[name: string, Deviations, reason?: string]>([
    ["an origin that is not configured", { origin: "http://localhost:3001" }, "origin"],
    ["another relying party", { rpId: "example.com" }],
    ["the type of a login", { type: "webauthn.get" }],
    ["another challenge", { challenge: "c2FtcGxl" }],
    ["an absent user", { flags: 0x04 }],
    ["an unverified user", { flags: 0x01 }],
    ["an algorithm that was not offered", { coseAlgorithm: -36 }],
    ["a public key of more than 1 KiB", { paddingBytes: 1000 }],
    ["an id that is not that of the response", { attestedId: Buffer.alloc(2000) }],
  ])("a passkey is not created with %s", async (_name, deviations, reason = "response") => {
    const { options, state } = await creationOptions(service, other);
    const rejected = await create(service, other, {
      state,
      response: createAuthenticator().create(options, deviations),
    });
    expect([rejected.status, rejected.body]).toEqual([400, INVALID]);
    expect(await latestReason(service)).toBe(reason);
    // The state is still valid, and a statement of the authenticator is ignored, as none was requested.
    const response = createAuthenticator().create(options, { format: "packed" });
    const created = (await create(service, other, { state, response })).expect<Passkey>(201);
    await remove(service, other, created.id);
  });

  const known = await enrol(service, user, createAuthenticator());
  test.each<[name: string, Deviations | "unknown" | "foreign", reason?: string]>([
    ["an origin that is not configured", { origin: "http://localhost:3001" }, "origin"],
    ["another relying party", { rpId: "example.com" }],
    ["the type of a creation", { type: "webauthn.create" }],
    ["another challenge", { challenge: "c2FtcGxl" }],
    ["an absent user", { flags: 0x04 }],
    ["an unverified user", { flags: 0x01 }],
    ["no user handle", { userHandle: undefined }, "user_handle"],
    ["the handle of another user", { userHandle: "AAAAAAAAAAAAAAAAAAAAAA" }, "user_handle"],
    ["the signature of another key", "foreign"],
    ["an unknown credential", "unknown", "credential"],
  ])("a login with %s is rejected like any other", async (_name, deviations, reason = "response") => {
    const body = await loginBody(service, known, typeof deviations === "string" ? {} : deviations);
    const { id } = createAuthenticator();
    if (deviations === "unknown") Object.assign(body.response, { id, rawId: id });
    if (deviations === "foreign")
      body.response.response.signature = (
        await loginBody(service, createAuthenticator())
      ).response.response.signature;
    const rejected = await logIn(service, body);
    expect([rejected.status, rejected.body]).toEqual([401, REJECTED]);
    expect(await latestReason(service)).toBe(reason);
  });

  test("a state is valid for one purpose and five minutes, and in one form", async () => {
    const { options, state } = await loginOptions(service);
    const response = known.get(options);
    const creation = await creationOptions(service, user);
    // The same bytes: the last two bits are unused.
    const lastBit = state.slice(0, -1) + String.fromCharCode(state.charCodeAt(state.length - 1) + 1);
    for (const wrong of [
      creation.state,
      "",
      "x",
      `${state}A`,
      state.replace(".", "A."),
      lastBit,
      state.slice(1),
    ])
      expect((await logIn(service, { state: wrong, response })).status).toBe(401);
    expect(await latestReason(service)).toBe("state");
    const created = createAuthenticator().create(creation.options);
    expect((await create(service, user, { state, response: created })).body).toEqual(INVALID);
    setSystemTime(Date.now() + 5 * 60_000);
    expect((await logIn(service, { state, response })).status).toBe(401);
    setSystemTime(Date.now() - 1_000);
    expect((await logIn(service, { state, response })).status).toBe(200);
  });

  test("a counter that does not grow is rejected, and at most eight logins are possible in five minutes", async () => {
    const authenticator = await enrol(service, other);
    const use = async (counter: number) =>
      (await logIn(service, await loginBody(service, authenticator, { counter }))).status;
    expect([await use(5), await use(0)]).toEqual([200, 401]);
    expect(await latestReason(service)).toBe("counter");
    const statuses: number[] = [];
    for (let counter = 6; counter <= 13; counter++) statuses.push(await use(counter));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 401]);
  });

  test("1,000 mutated responses: none logs in, and none causes an error of the service", async () => {
    const paths = [["state"], ["response", "id"], ["response", "rawId"], ["response", "type"]].concat(
      ["clientDataJSON", "authenticatorData", "signature", "userHandle"].map((name) => [
        "response",
        "response",
        name,
      ]),
    );
    const bounds = [null, 1, true, [], {}, "", "A", "\u0000", "é", "=", "A".repeat(100_000), undefined];
    const statuses = new Map<number, number>();
    for (const path of paths) {
      const body = await loginBody(service, known);
      for (let index = 0; index < 125; index++) {
        const mutated = structuredClone(body) as unknown as Record<string, unknown>;
        const [name = "", ...parents] = path.toReversed();
        const parent = parents.reduceRight((node, key) => node[key] as Record<string, unknown>, mutated);
        const text = String(parent[name]);
        const at = text.length - 1 - (index % text.length);
        const replaced = text[at] === "A" ? "B" : String.fromCharCode(text.charCodeAt(at) ^ 1);
        parent[name] =
          index < bounds.length ? bounds[index] : text.slice(0, at) + replaced + text.slice(at + 1);
        const { status } = await logIn(service, mutated);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect((await logIn(service, body)).status).toBe(200);
      await service.sql("update passkeys set used_statements = '{}'");
    }
    expect([...statuses.keys()].toSorted()).toEqual([401, 422]);
  });
});

test("an inactive user is treated as after a correct password", async () => {
  await using service = await startWithPasskeys();
  const user = await createVerified(service);
  const authenticator = await enrol(service, user);
  await service.database.users.setActive(user.id, false);
  const login = await logIn(service, await loginBody(service, authenticator));
  const { access_token: token } = login.expect<{ access_token: string }>(200);
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(403);
});

test("logins have a counter of their own, options only the default one, and the network becomes familiar", async () => {
  await using service = await startWithPasskeys({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "1/hour", RATE_LIMIT_PASSWORD_CHANGE: "2/hour" },
  });
  const user = await createVerified(service);
  const authenticator = await enrol(service, user);
  await service.sql("delete from user_networks");
  const bodies = [await loginBody(service, authenticator), await loginBody(service, authenticator)];
  const statuses: number[] = [];
  for (const body of bodies) statuses.push((await logIn(service, body)).status);
  expect(statuses).toEqual([200, 429]);
  expect(await service.sql("select network_digest from user_networks")).toHaveLength(1);
  const counted = [await requestOptions(service, user), await requestOptions(service, user)];
  expect(counted.map(({ status }) => status)).toEqual([200, 429]);
});

test("tokens state how their user logged in, also renewed ones, and passkeys that are off leave no trace", async () => {
  await using service = await startWithPasskeys({ env: { AUTH_RENEWAL_DAYS: "1" } });
  const user = await createVerified(service);
  const login = await logIn(service, await loginBody(service, await enrol(service, user)));
  const { access_token: token } = login.expect<{ access_token: string }>(200);
  expect(amrOf(await service.call("POST", "/auth/tokens", { token }))).toEqual(["pop", "user"]);
  expect(decodeJwt(user.token).amr).toEqual(["pwd"]);
  await using without = await startService();
  const { token: plain } = await without.createUser();
  expect(decodeJwt(plain)).not.toHaveProperty("amr");
  for (const [method, path] of [
    ["POST", "/auth/passkeys/options"],
    ["POST", "/auth/passkeys"],
    ["GET", "/auth/passkeys"],
    ["DELETE", "/auth/passkeys/x"],
    ["POST", "/auth/login/passkey/options"],
    ["POST", "/auth/login/passkey"],
    ["GET", "/account/passkeys"],
  ] as const) {
    // Not compared with the document, which is that of all features.
    const response = await fetch(without.url + path, {
      method,
      headers: { authorization: `Bearer ${plain}` },
    });
    expect([response.status, await response.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
  }
});
