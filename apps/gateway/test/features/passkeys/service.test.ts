/** The rules of passkeys, and the sequences by which others could be attacked. */
import { afterEach, describe, expect, setSystemTime, spyOn, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import type { Passkey, Token } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import { decodeJwt } from "jose";
import { createAuthenticator, type Deviations } from "../../support/authenticator.ts";
import { signOneTimeToken } from "../../support/one-time-token.ts";
import {
  beginCreation,
  beginLogin,
  create,
  createVerified,
  creationBody,
  enrol,
  logIn,
  loginBody,
  requestCreation,
  startWithPasskeys,
} from "../../support/passkeys.ts";
import {
  eachDatabase,
  type Service,
  type ServiceOptions,
  startService,
  type TestUser,
} from "../../support/service.ts";

/** The complete body: no reason. */
const errorOf = (status: number, detail: string, code: string) => {
  const text = JSON.stringify({ detail, code });
  return { status, text };
};
const INVALID = errorOf(400, "The passkey was not created: begin again", "PASSKEY_INVALID");
const REJECTED = errorOf(401, "The passkey was not accepted", "PASSKEY_REJECTED");
const NEW_PASSWORD = "a new long passphrase";
/** x of no point of P-256 for nearly every y; y of no point of edwards25519. */
const ONES = Buffer.alloc(32, 1).toString("base64url");
const NO_POINT = Buffer.alloc(32).fill(2, 0, 1).toString("base64url");
const ORDER_4 = Buffer.alloc(32).toString("base64url");
const ORDER_8 = Buffer.from(
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "hex",
).toString("base64url");
const jwkOf = (type: "rsa" | "ec", options: { modulusLength: number; namedCurve: string } | object) =>
  generateKeyPairSync(type as "rsa", { modulusLength: 2048, ...options }).publicKey.export({ format: "jwk" });
const LIFETIME_MS = 5 * 60_000;

const list = async ({ call }: Service, { token }: TestUser) =>
  (await call("GET", "/auth/passkeys", { token })).expect<Passkey[]>(200);
const remove = ({ call }: Service, { token, password }: TestUser, id: string) =>
  call("POST", `/auth/passkeys/${id}/removal`, { token, body: { current_password: password } });
const tokenOf = (response: { expect<Body>(status: number): Body }) =>
  response.expect<Token>(200).access_token;
const amrOf = (token: string) => decodeJwt(token).amr;
/** Why the latest response was rejected, which only the log tells. */
async function latestReason(service: Service) {
  await service.request("/healthz");
  return service.log.findLast(({ event }) => event === "passkey.rejected")?.reason;
}

afterEach(() => void setSystemTime());

eachDatabase((start, testOnce) => {
  testOnce.each(["ES256", "EdDSA", "RS256"] as const)(
    "a user creates, uses and removes a passkey of %s",
    async (algorithm) => {
      await using service = await startWithPasskeys({}, start);
      const user = await createVerified(service);
      const { passkey, ...authenticator } = await enrol(service, user, createAuthenticator(algorithm));
      expect(passkey).toMatchObject({ id: authenticator.id, name: "Phone", last_used_at: null });
      expect(await list(service, user)).toEqual([passkey]);
      const derivations = service.derivations();
      const token = tokenOf(await logIn(service, await loginBody(service, authenticator)));
      expect(amrOf(token)).toEqual(["pop", "user"]);
      expect(service.derivations()).toBe(derivations);
      expect((await list(service, user))[0]?.last_used_at).toBeString();
      const unused = await loginBody(service, authenticator);
      const withoutProof = await service.call("DELETE", `/auth/passkeys/${passkey.id}`, { token });
      expect([withoutProof.status, withoutProof.body]).toMatchObject([403, { code: "OWNER_PROOF_REQUIRED" }]);
      const thief = { ...user, password: "wrong" };
      expect((await remove(service, thief, passkey.id)).body).toMatchObject({
        code: "CURRENT_PASSWORD_INCORRECT",
      });
      expect((await remove(service, user, passkey.id)).status).toBe(204);
      expect((await remove(service, user, passkey.id)).body).toMatchObject({ code: "PASSKEY_NOT_FOUND" });
      expect(await logIn(service, unused)).toMatchObject(REJECTED);
      expect(await latestReason(service)).toBe("credential");
      const events = service.log.map(({ event }) => String(event));
      const ofPasskeys = events.filter((event) => event.startsWith("passkey"));
      expect(ofPasskeys).toEqual(["passkey.created", "passkey.removed", "passkey.rejected"]);
    },
  );

  test("a removal whose user changed after its proof, or during it, removes nothing", async () => {
    let meanwhile = async (): Promise<unknown> => undefined;
    const wrappers = {
      duringProof: {
        wrapHasher: ({ verify }) => ({ verify: (...of) => meanwhile().then(() => verify(...of)) }),
      },
      afterProof: {
        wrapDatabase: ({ passkeys }) => ({
          passkeys: { delete: (...of) => meanwhile().then(() => passkeys.delete(...of)) },
        }),
      },
    } satisfies Record<string, ServiceOptions>;
    for (const wrapper of Object.values(wrappers)) {
      await using service = await startWithPasskeys(wrapper, start);
      for (const change of ["token_version = token_version + 1", "hashed_password = 'pbkdf2$other$digest'"]) {
        const user = await createVerified(service);
        const { passkey } = await enrol(service, user);
        meanwhile = () => service.sql(`update users set ${change} where id = ${user.id}`);
        expect((await remove(service, user, passkey.id)).body).toMatchObject({ code: "INVALID_TOKEN" });
        expect(await service.database.passkeys.list(user.id)).toHaveLength(1);
        meanwhile = async () => undefined;
      }
    }
  });

  test("of 20 parallel identical responses one logs in, and the response never does again", async () => {
    await using service = await startWithPasskeys({}, start);
    const authenticator = await enrol(service, await createVerified(service));
    const body = await loginBody(service, authenticator);
    const issuedAt = Date.now();
    const responses = await Promise.all(Array.from({ length: 20 }, () => logIn(service, body)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    // Not even after the statement has expired at this replica, while it is valid at one whose clock is slower.
    setSystemTime(issuedAt + LIFETIME_MS + 1_000);
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(200);
    setSystemTime(issuedAt + LIFETIME_MS - 1_000);
    expect((await logIn(service, body)).status).toBe(401);
    expect(await latestReason(service)).toBe("used");
  });

  test("an intruder's passkey of a once-known password survives a new password and a revocation, but not remove_passkeys", async () => {
    await using service = await startWithPasskeys({}, start);
    const owner = await createVerified(service);
    const intruder = await enrol(service, owner);
    const isOpen = async () => (await logIn(service, await loginBody(service, intruder))).status === 200;
    const change = (token: string, body: object) => service.call("PATCH", "/auth/me", { token, body });
    const passwords = { password: NEW_PASSWORD, current_password: owner.password };
    await change(owner.token, { ...passwords, remove_passkeys: false });
    await service.call("DELETE", "/auth/tokens", { token: owner.token });
    expect(await isOpen()).toBe(true);
    const token = await service.login({ ...owner, password: NEW_PASSWORD });
    const alone = await change(token, { username: "renamed", remove_passkeys: true });
    expect([alone.status, alone.body]).toMatchObject([422, { detail: [{ loc: ["body", "password"] }] }]);
    const late = creationBody(await beginCreation(service, { ...owner, token, password: NEW_PASSWORD }));
    const both = { password: owner.password, current_password: NEW_PASSWORD, remove_passkeys: true };
    expect((await change(token, both)).status).toBe(200);
    expect(await isOpen()).toBe(false);
    expect(await create(service, { ...owner, token }, late)).toMatchObject(INVALID);
    expect(await list(service, { ...owner, token })).toEqual([]);
  });

  test("an enrolment ends with the salt of the stored hash, also if nothing else of the user changes", async () => {
    await using service = await startWithPasskeys({}, start);
    const user = await createVerified(service);
    const begun = creationBody(await beginCreation(service, user));
    await service.sql(`update users set hashed_password = '${"0".repeat(32)}$replaced'`);
    expect(await create(service, user, begun)).toMatchObject(INVALID);
    expect(await latestReason(service)).toBe("state");
  });

  test.each([
    ["counts", 1],
    ["does not count", 0],
  ])(
    "the ninth login of a passkey that %s waits for the first to expire; another passkey does not wait",
    async (_name, step) => {
      await using service = await startWithPasskeys({}, start);
      const user = await createVerified(service);
      const [busy, other] = [await enrol(service, user), await enrol(service, user)];
      let counter = 0;
      const use = async (authenticator = busy) => {
        counter += step;
        return logIn(service, await loginBody(service, authenticator, { counter }));
      };
      for (let login = 1; login <= 8; login++) expect((await use()).status).toBe(200);
      const ninth = await use();
      expect([ninth.status, ninth.body]).toMatchObject([429, { code: "TOO_MANY_REQUESTS" }]);
      expect(ninth.text).toContain("429: Too Many Requests: 8 logins with one passkey per 5 minutes");
      expect(await latestReason(service)).toBe("busy");
      const waitSeconds = Number(ninth.headers.get("retry-after"));
      expect(waitSeconds).toBeWithin(240, 311);
      expect((await use(other)).status).toBe(200);
      setSystemTime(Date.now() + waitSeconds * 1000);
      expect((await use()).status).toBe(200);
    },
  );

  test("of 40 parallel responses to one challenge, each with another counter, one logs in", async () => {
    await using service = await startWithPasskeys({}, start);
    const { get } = await enrol(service, await createVerified(service));
    const { options, state } = await beginLogin(service);
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        logIn(service, { state, response: get(options, { counter: index + 1 }) }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 39 }, () => 401)]);
    expect((await logIn(service, { state, response: get(options, { counter: 41 }) })).status).toBe(401);
    expect(await latestReason(service)).toBe("used");
  });

  test("two states that are used in reverse order, at replicas whose clocks differ by two seconds, both log in", async () => {
    await using service = await startWithPasskeys({}, start);
    const authenticator = await enrol(service, await createVerified(service));
    const earlier = await loginBody(service, authenticator);
    const now = Date.now();
    setSystemTime(now + 2_000);
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(200);
    setSystemTime(now);
    expect((await logIn(service, earlier)).status).toBe(200);
    expect((await logIn(service, earlier)).status).toBe(401);
  });
});

test("without passkeys, remove_passkeys is unknown, and therefore ignored", async () => {
  await using service = await startService();
  const { token } = await service.createUser();
  const body = { remove_passkeys: "any" };
  expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(200);
});

const REVOKED = { status: 401, body: { code: "INVALID_TOKEN" } };
const INACTIVE = { status: 403, body: { code: "INACTIVE_USER" } };
test.each<[name: string, change: (users: Database["users"]) => Promise<unknown>, rejection: object]>([
  ["a reset", (users) => users.update(1, { hashedPassword: "reset$digest" }), REVOKED],
  ["a deactivation", (users) => users.changeAsOperator(1, { isActive: false }), INACTIVE],
  [
    "a change of e-mail, and a registration of the old one,",
    async (users) => {
      const changed = await users.changeAsOperator(1, { email: "new@example.org" });
      const email = changed?.before.email ?? "";
      await users.create({ email, username: "other", hashedPassword: "other$digest" });
    },
    REJECTED,
  ],
  ["a deletion", (users) => users.deleteAll([1]), REJECTED],
])("a login that %s overtakes is rejected, or its token is", async (_name, change, rejection) => {
  await using service = await startWithPasskeys({
    wrapDatabase: ({ users, passkeys }) => ({
      // After the response was verified.
      passkeys: { use: (use) => passkeys.use(use).finally(() => change(users)) },
    }),
  });
  const authenticator = await enrol(service, await createVerified(service));
  const login = await logIn(service, await loginBody(service, authenticator));
  const readMe = () => service.call("GET", "/auth/me", { token: tokenOf(login) });
  const last = login.status === 200 ? await readMe() : login;
  expect(last).toMatchObject(rejection);
});

describe("with one service", async () => {
  const service = await startWithPasskeys();
  const user = await createVerified(service);
  const other = await createVerified(service);
  const known = await enrol(service, user);
  const stranger = createAuthenticator();

  test("a reset deletes the passkeys; a password change and a revocation keep them", async () => {
    const one = await createVerified(service);
    const authenticator = await enrol(service, one);
    const { token, password } = one;
    const change = { password: NEW_PASSWORD, current_password: password };
    (await service.call("PATCH", "/auth/me", { token, body: change })).expect(200);
    await service.call("DELETE", "/auth/tokens", { token });
    expect((await logIn(service, await loginBody(service, authenticator))).status).toBe(200);
    const body = { token: signOneTimeToken("reset", await service.readUser(one.id)), password: NEW_PASSWORD };
    expect((await service.call("POST", "/auth/password-reset/confirm", { body })).status).toBe(204);
    expect(await service.database.passkeys.list(one.id)).toEqual([]);
  });

  test("nobody removes or creates passkeys of another user, and a stolen token alone creates none", async () => {
    expect((await remove(service, other, known.id)).status).toBe(404);
    expect(await list(service, user)).toEqual([known.passkey]);
    expect(await list(service, other)).toEqual([]);
    const stolen = await requestCreation(service, { ...user, password: "not the password" });
    expect(stolen.body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    // Two new users, who differ only in their ids and salts.
    const [one, two] = [await createVerified(service), await createVerified(service)];
    const foreign = creationBody(await beginCreation(service, one));
    expect(await create(service, two, foreign)).toMatchObject(INVALID);
  });

  test("a passkey requires a verified e-mail if mail is configured", async () => {
    const unverified = await service.createUser();
    const refused = { status: 403, body: { code: "EMAIL_NOT_VERIFIED" } };
    expect(await requestCreation(service, unverified)).toMatchObject(refused);
    const wrong = await requestCreation(service, { ...unverified, password: "not the password" });
    expect(wrong.body).toMatchObject({ code: "CURRENT_PASSWORD_INCORRECT" });
    await using withoutMail = await startWithPasskeys({ env: { NODE_ENV: "production" } });
    await enrol(withoutMail, await withoutMail.createUser());
  });

  test("the handle of a user is random and stays, and existing passkeys are excluded", async () => {
    const optionsOf = async (one: TestUser) => (await beginCreation(service, one)).options;
    const [first, again, ofOther] = [await optionsOf(user), await optionsOf(user), await optionsOf(other)];
    expect(Buffer.from(first.user?.id ?? "", "base64url")).toHaveLength(16);
    expect(ofOther.user?.id).not.toBe(first.user?.id);
    expect<unknown>(again).toMatchObject({
      rp: { id: "localhost" },
      user: first.user,
      attestation: "none",
      excludeCredentials: [{ type: "public-key", id: known.id }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  });

  test("a state creates one passkey, for the state of the user in which it was issued", async () => {
    const one = await createVerified(service);
    const begun = await beginCreation(service, one);
    const parallel = Array.from({ length: 10 }, () => create(service, one, creationBody(begun)));
    const statuses = (await Promise.all(parallel)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 400)]);
    const outdated = creationBody(await beginCreation(service, one));
    const change = { password: NEW_PASSWORD, current_password: one.password };
    (await service.call("PATCH", "/auth/me", { token: one.token, body: change })).expect(200);
    expect(await create(service, one, outdated)).toMatchObject(INVALID);
  });

  const INVALID_RESPONSES: readonly [name: string, Deviations, reason?: string][] = [
    ["an origin that is not configured", { clientData: { origin: "http://localhost:3001" } }, "origin"],
    ["another relying party", { rpId: "example.com" }],
    ["another challenge", { clientData: { challenge: "c2FtcGxl" } }],
    ["a page that another origin embeds", { clientData: { crossOrigin: true } }, "origin"],
    ["an absent user", { flags: 0x04 }],
    ["an unverified user", { flags: 0x01 }],
  ];

  test.each([
    ...INVALID_RESPONSES,
    ["the type of a login", { clientData: { type: "webauthn.get" } }],
    ["an algorithm that was not offered", { coseAlgorithm: -36 }],
    ["a public key of more than 1 KiB", { paddingBytes: 1000 }],
    ["an RSA key of 1,024 bits", { publicKey: jwkOf("rsa", { modulusLength: 1024 }) }],
    [
      "an RSA key for which everybody can sign",
      { publicKey: { ...jwkOf("rsa", { modulusLength: 2048 }), e: "AQ" } },
    ],
    ["a key of P-384", { publicKey: jwkOf("ec", { namedCurve: "P-384" }) }],
    ["a point that is not on P-256", { publicKey: { ...jwkOf("ec", { namedCurve: "P-256" }), x: ONES } }],
    ["a point that is not on edwards25519", { publicKey: { kty: "OKP", crv: "Ed25519", x: NO_POINT } }],
    ["a point for which everybody can sign", { publicKey: { kty: "OKP", crv: "Ed25519", x: ORDER_4 } }],
    ["another such point", { publicKey: { kty: "OKP", crv: "Ed25519", x: ORDER_8 } }],
    ["an id that is not that of the response", { attestedId: Buffer.alloc(2000) }],
  ])("a passkey is not created with %s", async (_name, deviations, reason = "response") => {
    const begun = await beginCreation(service, other);
    expect(await create(service, other, creationBody(begun, deviations))).toMatchObject(INVALID);
    expect(await latestReason(service)).toBe(reason);
    // The state is still valid, and a statement of the authenticator is ignored, as none was requested.
    const created = await create(service, other, creationBody(begun, { format: "packed" }));
    await remove(service, other, created.expect<Passkey>(201).id);
  });

  test.each<[name: string, Deviations, reason?: string, authenticator?: typeof stranger]>([
    ...INVALID_RESPONSES,
    ["the type of a creation", { clientData: { type: "webauthn.create" } }],
    ["no user handle", { userHandle: undefined }, "user_handle"],
    ["the handle of another user", { userHandle: "AAAAAAAAAAAAAAAAAAAAAA" }, "user_handle"],
    ["the signature of another key", { id: known.id }, "response", stranger],
    ["an unknown credential", {}, "credential", stranger],
  ])(
    "a login with %s is rejected like any other",
    async (_name, deviations, reason = "response", authenticator = known) => {
      const body = await loginBody(service, authenticator, deviations);
      expect(await logIn(service, body)).toMatchObject(REJECTED);
      expect(await latestReason(service)).toBe(reason);
    },
  );

  test("a login with an unknown credential verifies as many signatures as one with the signature of another key", async () => {
    // The time of a verification is too short to compare, so its calls are counted.
    using verify = spyOn(crypto.subtle, "verify");
    const countOf = async (deviations: Deviations) => {
      verify.mockClear();
      expect(await logIn(service, await loginBody(service, stranger, deviations))).toMatchObject(REJECTED);
      return verify.mock.calls.length;
    };
    expect([await countOf({ id: known.id }), await countOf({})]).toEqual([1, 1]);
  });

  test("a state is valid for one purpose and five minutes, and in one form", async () => {
    const { options, state } = await beginLogin(service);
    const response = known.get(options);
    const creation = await beginCreation(service, user);
    // The same bytes: the last two bits are unused.
    const lastBit = state.slice(0, -1) + String.fromCharCode(state.charCodeAt(state.length - 1) + 1);
    const others = ["", "x", `${state}A`, state.replace(".", "A."), lastBit, state.slice(1)];
    for (const wrong of [creation.state, ...others])
      expect((await logIn(service, { state: wrong, response })).status).toBe(401);
    expect(await latestReason(service)).toBe("state");
    expect(await create(service, user, creationBody({ ...creation, state }))).toMatchObject(INVALID);
    setSystemTime(Date.now() + LIFETIME_MS);
    expect((await logIn(service, { state, response })).status).toBe(401);
    setSystemTime(Date.now() - 1_000);
    expect((await logIn(service, { state, response })).status).toBe(200);
  });

  test("a counter that does not grow is rejected", async () => {
    const authenticator = await enrol(service, other);
    const use = async (counter: number) =>
      (await logIn(service, await loginBody(service, authenticator, { counter }))).status;
    expect([await use(5), await use(0)]).toEqual([200, 401]);
    expect(await latestReason(service)).toBe("counter");
  });

  test("1,000 mutated responses: none logs in, and none causes an error of the service", async () => {
    const bounds = [null, 1, true, [], {}, "", "A", "\u0000", "é", "=", "A".repeat(100_000), undefined];
    /** One of the bounds, or a text with another character. */
    const mutate = (text: string, index: number): unknown => {
      if (index < bounds.length) return bounds[index];
      const at = text.length - 1 - (index % text.length);
      const replaced = text[at] === "A" ? "B" : String.fromCharCode(text.charCodeAt(at) ^ 1);
      return text.slice(0, at) + replaced + text.slice(at + 1);
    };
    const statuses = new Set<number>();
    const members = ["clientDataJSON", "authenticatorData", "signature", "userHandle"];
    for (const member of ["state", "id", "rawId", "type", ...members]) {
      const body = JSON.stringify(await loginBody(service, known));
      for (let index = 0; index < 125; index++) {
        const mutated: unknown = JSON.parse(body, (name, value) =>
          name === member ? mutate(value, index) : value,
        );
        statuses.add((await logIn(service, mutated)).status);
      }
      expect((await logIn(service, body)).status).toBe(200);
      await service.sql("update passkeys set used_statements = '{}'");
    }
    expect([...statuses].toSorted()).toEqual([401, 422]);
  });
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
  const counted = [await requestCreation(service, user), await requestCreation(service, user)];
  expect(counted.map(({ status }) => status)).toEqual([200, 429]);
});

test("tokens state how their user logged in, also renewed ones", async () => {
  await using service = await startWithPasskeys({ env: { AUTH_RENEWAL_DAYS: "1" } });
  const user = await createVerified(service);
  const token = tokenOf(await logIn(service, await loginBody(service, await enrol(service, user))));
  expect(amrOf(tokenOf(await service.call("POST", "/auth/tokens", { token })))).toEqual(["pop", "user"]);
  expect(amrOf(user.token)).toEqual(["pwd"]);
});
