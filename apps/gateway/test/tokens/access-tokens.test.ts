/** The contents of access tokens, and which forged tokens are accepted and rejected. */
import { afterEach, beforeAll, expect, setSystemTime, spyOn, test } from "bun:test";
import { join } from "node:path";
import { CLAIMS_MAX_BYTES, ID_MAX, type Token, type User } from "@latchkey/contracts";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { ROOT } from "@latchkey/testing/repository";
import { enabledFeatures } from "../../src/features/optional-features.ts";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { encode, type Forgery, forge, openToken, secondsFromNow } from "../support/forge-token.ts";
import {
  EVERY_FEATURE,
  newCredentials,
  readConfig,
  SECRET_KEY,
  shareService,
  startService,
} from "../support/service.ts";

const INVALID_TOKEN = '{"detail":"Invalid or expired token","code":"INVALID_TOKEN"}';
const sub = "1";
const exp = 4_000_000_000;
const OTHER_KEY = [...SECRET_KEY].reverse().join("");

afterEach(() => void setSystemTime());

/** Undefined removes a claim. */
const withClaims = (change: object): Forgery => ({ claims: { sub, exp, ...change } });
const withHeader = (header: object | string): Forgery => ({ header, claims: { sub, exp } });
const withText = (claims: string): Forgery => ({ claims });

/** Signed with the service's key unless `key` is set; `sub` is an existing user. */
const REJECTED: readonly Forgery[] = [
  ...[OTHER_KEY, ""].map((key) => ({ claims: { sub, exp }, key })),
  ...["hs256", "RS256", "HS512", "none", "nOnE", undefined, ["HS256"]].map((alg) => withHeader({ alg })),
  // Critical extensions, of which libraries know one.
  ...[{ crit: ["x"], x: 1 }, { crit: ["b64"], b64: true }, { crit: [] }].map(withHeader),
  // Inherited members, and the last value of a repeated one (RFC 7519 §4).
  ...['{"__proto__":{"alg":"HS256"}}', '{"alg":"HS256","alg":"none"}', "HS256", "null"].map(withHeader),
  // A header of more than 1,024 characters.
  withHeader({ x: "x".repeat(800) }),
  ...["sub", "null", `["${sub}",${exp}]`, `{"__proto__":{"sub":"${sub}","exp":${exp}}}`].map(withText),
  withText(`{"sub":"${sub}","exp":${exp},"exp":1}`),
  ...[undefined, null, String(exp), -exp, secondsFromNow(0)].map((exp) => withClaims({ exp })),
  ...[secondsFromNow(3600), "0"].map((nbf) => withClaims({ nbf })),
  ...[undefined, Number(sub), [sub], "", "abc", "1.0", "01", "+1", "-0"].map((sub) => withClaims({ sub })),
  // The last one is 2^53, which is not a safe integer.
  ...["1e0", "0x1", " 1", "1\n", "NaN", "1,000", "9007199254740992"].map((sub) => withClaims({ sub })),
  ...[-1, 0.5, 2 ** 53, 1e300, "0", "", null, true, [0], {}].map((ver) => withClaims({ ver })),
];

const ACCEPTED: readonly Forgery[] = [
  ...[{}, { iat: secondsFromNow(3600) }, { iat: "yesterday" }, { nbf: secondsFromNow(-1) }].map(withClaims),
  ...[{ exp: 1e300 }, { iss: "x", aud: ["y"], jti: 5, admin: true }, { x: "x".repeat(9_000) }].map(
    withClaims,
  ),
  // It cannot be converted to text.
  withClaims({ amr: { toString: 1 } }),
  ...[{ typ: undefined }, { typ: "at+jwt", kid: "../../etc" }].map(withHeader),
  // A header of less than 1,024 characters.
  withHeader({ x: "x".repeat(700) }),
  ...['{"alg":"none","alg":"HS256"}', ' {\n"alg":"HS256" } '].map(withHeader),
  ...[`{"sub":"${sub}","exp":1,"exp":${exp}}`, `\r\n\t{ "sub" : "${sub}" ,\n"exp" : ${exp} } `].map(withText),
];

/** With the first user, whose id is `sub`. */
const shared = shareService();
beforeAll(() => shared().register());

const getMe = (token: string) => shared().call("GET", "/auth/me", { token });

async function openTokens() {
  const { tokenKeys, tokens } = readConfig();
  return createTokens(await importTokenKeys(tokenKeys, () => SECRET_KEY), tokens, new Set());
}

test("signatures of 10,000 tokens are verified once: the first one again after as many others", async () => {
  const { verify } = await openTokens();
  const tokens = Array.from({ length: 10_001 }, (_, index) => forge({ claims: { sub, exp, jti: index } }));
  using verifications = spyOn(crypto.subtle, "verify");
  for (const token of [...tokens, ...tokens.slice(-1), ...tokens.slice(0, 1)]) await verify(token);
  expect(verifications).toHaveBeenCalledTimes(10_002);
});

test("a token contains sub as text, ver, jti, iat and exp, no personal data, and expires after 60 minutes", async () => {
  const { id, token } = await shared().createUser();
  const { header, claims } = openToken(token);
  expect(header).toMatchObject({ alg: "HS256" });
  expect(claims).toEqual({
    sub: String(id),
    ver: 0,
    jti: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    iat: expect.any(Number),
    exp: expect.any(Number),
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(60 * 60);
  expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(10);
});

test("AUTH_CLAIMS adds claims with the state of the user, and roles and claims to the user, which clients cannot set", async () => {
  await using service = await startService({ env: EVERY_FEATURE });
  const body = { ...newCredentials(), roles: ["admin"], claims: { plan: "pro" } };
  const user = (await service.call("POST", "/auth/register", { body })).expect<User>(201);
  const token = await service.login(body);
  expect(user).toMatchObject({ roles: [], claims: {} });
  expect(openToken(token).claims).toMatchObject({ roles: [], email_verified: false, claims: {} });
  const claims = { plan: "free", teams: ["a", 1, true] };
  await service.database.users.changeAsOperator(user.id, { roles: ["admin"], claims });
  await service.database.users.update(user.id, { emailVerified: true });
  const change = { roles: [], claims: { plan: "pro" }, username: "ada" };
  const own = { username: "ada", roles: ["admin"], claims };
  const changed = (await service.call("PATCH", "/auth/me", { token, body: change })).expect<User>(200);
  expect(changed).toEqual({ ...user, updated_at: changed.updated_at, email_verified: true, ...own });
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(changed);
  const renewed = (await service.call("POST", "/auth/tokens", { token })).expect<Token>(200).access_token;
  for (const next of [openToken(await service.login(body)), openToken(renewed)])
    expect(next.claims).toMatchObject({ roles: ["admin"], email_verified: true, claims });
  await using other = await startService({ env: { AUTH_CLAIMS: "email_verified" } });
  const plain = await other.createUser();
  for (const name of ["roles", "claims"]) {
    expect(openToken(plain.token).claims).not.toHaveProperty(name);
    expect(plain.user).not.toHaveProperty(name);
  }
});

test("the largest token has less than 4,400 characters, for which the shipped proxies have room, and the documented claims", async () => {
  const name = "x".repeat(255);
  const env = { ...privateKeyVariables("ES256"), AUTH_ISSUER: name, AUTH_AUDIENCE: name };
  const config = readConfig({ ...EVERY_FEATURE, ...env, AUTH_SECOND_FACTOR: "true" });
  const keys = await importTokenKeys(config.tokenKeys, () => SECRET_KEY);
  const { sign } = createTokens(keys, config.tokens, enabledFeatures(config));
  const claims = { a: "x".repeat(CLAIMS_MAX_BYTES - '{"a":""}'.length) };
  const roles = Array.from({ length: 20 }, () => "r".repeat(64));
  const user = { id: ID_MAX, tokenVersion: 2 ** 31 - 1, emailVerified: false, roles, claims };
  const token = await sign(user, { amr: ["pwd", "otp", "mfa"], acr: "2fa", auth_time: exp });
  expect(token.length).toBeWithin(4_000, 4_400);
  const document = await Bun.file(join(ROOT, "docs/resource-servers.md")).text();
  const names = (document.match(/^\| `[^|]+/gm) ?? []).flatMap((cell) => cell.match(/\w+/g) ?? []);
  expect(Object.keys(openToken(token).claims).sort()).toEqual(names.sort());
});

test.each(["HS256", "HS384", "HS512"] as const)(
  "with AUTH_ALGORITHM %s, tokens are signed with it and tokens of other algorithms are rejected",
  async (chosen) => {
    const env = { AUTH_ALGORITHM: chosen, AUTH_TOKEN_EXPIRE_MINUTES: "7" };
    await using service = await startService({ env });
    const { id, token } = await service.createUser();
    const { header, claims } = openToken(token);
    expect([header.alg, Number(claims.exp) - Number(claims.iat)]).toEqual([chosen, 7 * 60]);
    for (const algorithm of ["HS256", "HS384", "HS512"] as const) {
      const forged = forge({ claims: { sub: String(id), exp }, algorithm });
      const { status } = await service.call("GET", "/auth/me", { token: forged });
      expect([algorithm, status]).toEqual([algorithm, algorithm === chosen ? 200 : 401]);
    }
  },
);

test("AUTH_SECRET_KEY_PREVIOUS verifies tokens but does not sign them", async () => {
  const env = { AUTH_SECRET_KEY: OTHER_KEY, AUTH_SECRET_KEY_PREVIOUS: SECRET_KEY };
  await using service = await startService({ env });
  const { id, token } = await service.createUser();
  const claims = { sub: String(id), exp };
  for (const [key, status] of [
    [SECRET_KEY, 200],
    [OTHER_KEY, 200],
    ["a third key", 401],
  ] as const) {
    expect((await service.call("GET", "/auth/me", { token: forge({ claims, key }) })).status).toBe(status);
  }
  expect(forge({ ...openToken(token), key: OTHER_KEY })).toBe(token);
});

test("a token of another key, algorithm or form, or with invalid claims, returns 401 with a challenge", async () => {
  for (const forgery of REJECTED) {
    const { status, text, headers } = await getMe(forge(forgery));
    const response = [status, text, headers.get("www-authenticate")];
    expect([forgery, ...response]).toEqual([forgery, 401, INVALID_TOKEN, "Bearer"]);
  }
});

test("other claims and headers are ignored", async () => {
  for (const forgery of ACCEPTED)
    expect([forgery, (await getMe(forge(forgery))).status]).toEqual([forgery, 200]);
});

test("a sub that is a safe integer returns 404 if the user does not exist", async () => {
  for (const sub of ["0", "-1", "424242", "9007199254740991", "-9007199254740991"]) {
    const { status, text } = await getMe(forge({ claims: { sub, exp } }));
    expect([sub, status, text]).toEqual([sub, 404, '{"detail":"User not found","code":"USER_NOT_FOUND"}']);
  }
});

test("a token that is modified, truncated, extended or not signed returns 401", async () => {
  const { token } = await shared().createUser();
  const [header = "", claims = "", signature = ""] = token.split(".");
  const unsigned = ["none", "NONE"].map((alg) => `${encode({ alg })}.${claims}`);
  const changed = [
    ...[0, header.length + 2, token.length - 3].map((at) => change(token, at)),
    ...[`${header}.${claims}`, ...unsigned].flatMap((content) => [content, `${content}.`]),
    ...unsigned.map((content) => `${content}.${signature}`),
    ...[`${header}..${signature}`, `.${claims}.${signature}`, `${token}.${signature}`, `${token}A`],
    ...[token.toUpperCase(), "a.b.c", "x".repeat(6000)],
  ];
  for (const other of changed) {
    const { status, text } = await getMe(other);
    expect([other, status, text]).toEqual([other, 401, INVALID_TOKEN]);
  }
});

/** Replaces the character at an index. */
const change = (token: string, at: number): string =>
  `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;

test("verify returns the user id, the version and the token id, and null for a token id that cannot be stored", async () => {
  const { sign, verify } = await openTokens();
  const token = await sign({ id: 7, tokenVersion: 3, roles: [], claims: {}, emailVerified: false });
  const exceptToken = String(openToken(token).claims.jti);
  expect(await verify(token)).toEqual({ userId: 7, guard: { version: 3, exceptToken }, login: {} });
  expect(await sign({ id: 7, tokenVersion: 3, roles: [], claims: {}, emailVerified: false })).not.toBe(token);

  const tokenIdOf = async (jti?: unknown) =>
    (await verify(forge({ claims: { sub, exp, jti } })))?.guard.exceptToken;
  expect(await tokenIdOf("x".repeat(128))).toBe("x".repeat(128));
  for (const jti of [undefined, null, 5, "", "x".repeat(129), "\0", "\ud800", "a b", ["a"]])
    expect([jti, await tokenIdOf(jti)]).toEqual([jti, null]);
  expect((await verify(forge({ claims: { sub, exp } })))?.guard.version).toBe(0);
});

test("a token that was verified before expires, and a changed one is rejected", async () => {
  const { verify } = await openTokens();
  const token = forge({ claims: { sub, exp: secondsFromNow(60) } });
  for (let use = 0; use < 2; use++) expect((await verify(token))?.userId).toBe(1);
  for (const at of [0, token.indexOf(".") + 1, token.lastIndexOf(".") + 1])
    expect(await verify(change(token, at))).toBeNull();
  expect(await verify(`${token}=`)).toBeNull();
  setSystemTime(Date.now() + 61_000);
  expect(await verify(token)).toBeNull();
});
