/** The contents of access tokens, and which forged tokens are accepted and rejected. */
import { afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { ClientResponse } from "../support/client.ts";
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

afterEach(() => {
  setSystemTime();
});

function expectInvalidToken({ status, text, headers }: ClientResponse): void {
  expect([status, text]).toEqual([401, INVALID_TOKEN]);
  expect(headers.get("www-authenticate")).toBe("Bearer");
}

/** Signed with the service's key unless `key` is set; `sub` is an existing user. */
const REJECTED: Readonly<Record<string, Forgery>> = {
  "another key": { claims: { sub, exp }, key: OTHER_KEY },
  "an empty key": { claims: { sub, exp }, key: "" },
  "alg HS256 in lower case": { header: { alg: "hs256" }, claims: { sub, exp } },
  "alg RS256": { header: { alg: "RS256" }, claims: { sub, exp } },
  "alg HS512 over an HS256 signature": { header: { alg: "HS512" }, claims: { sub, exp } },
  "no alg": { header: { alg: undefined }, claims: { sub, exp } },
  "alg as an array": { header: { alg: ["HS256"] }, claims: { sub, exp } },
  "alg only inherited": { header: '{"__proto__":{"alg":"HS256"}}', claims: { sub, exp } },
  "an unknown crit": { header: { crit: ["x"], x: 1 }, claims: { sub, exp } },
  "a crit that libraries know": { header: { crit: ["b64"], b64: true }, claims: { sub, exp } },
  "an empty crit": { header: { crit: [] }, claims: { sub, exp } },
  "a header that is not JSON": { header: "HS256", claims: { sub, exp } },
  "a header that is null": { header: "null", claims: { sub, exp } },
  "claims that are not JSON": { claims: "sub" },
  "claims that are null": { claims: "null" },
  "claims that are an array": { claims: [sub, exp] },
  "claims that are only inherited": { claims: `{"__proto__":{"sub":"${sub}","exp":${exp}}}` },
  "no exp": { claims: { sub } },
  "exp null": { claims: { sub, exp: null } },
  "exp as text": { claims: { sub, exp: String(exp) } },
  "exp this second": { claims: { sub, exp: secondsFromNow(0) } },
  "a negative exp": { claims: { sub, exp: -exp } },
  "a future nbf": { claims: { sub, exp, nbf: secondsFromNow(3600) } },
  "nbf as text": { claims: { sub, exp, nbf: "0" } },
  "no sub": { claims: { exp } },
  "sub as a number": { claims: { sub: Number(sub), exp } },
  "sub in an array": { claims: { sub: [sub], exp } },
  ...Object.fromEntries(
    ["", "abc", "1.0", "01", "+1", "-0", "1e0", "0x1", " 1", "1\n", "NaN", "1,000"].map((sub) => [
      `sub ${JSON.stringify(sub)}`,
      { claims: { sub, exp } },
    ]),
  ),
  "sub 2^53, which is not a safe integer": { claims: { sub: "9007199254740992", exp } },
  ...Object.fromEntries(
    [-1, 0.5, 2 ** 53, 1e300, "0", "", null, true, [0], {}].map((ver) => [
      `ver ${JSON.stringify(ver)}`,
      { claims: { sub, exp, ver } },
    ]),
  ),
  // The last value of a repeated member counts (RFC 7519 §4).
  "alg HS256, then none": { header: '{"alg":"HS256","alg":"none"}', claims: { sub, exp } },
  "a future exp, then a past one": { claims: `{"sub":"${sub}","exp":${exp},"exp":1}` },
  "a header of more than 1,024 characters": { header: { x: "x".repeat(800) }, claims: { sub, exp } },
};

const ACCEPTED: Readonly<Record<string, Forgery>> = {
  "no iat": { claims: { sub, exp } },
  "iat in the future": { claims: { sub, exp, iat: secondsFromNow(3600) } },
  "iat as text": { claims: { sub, exp, iat: "yesterday" } },
  "nbf in the past": { claims: { sub, exp, nbf: secondsFromNow(-1) } },
  "an exp in the far future": { claims: { sub, exp: 1e300 } },
  "additional claims": { claims: { sub, exp, iss: "x", aud: ["y"], jti: 5, admin: true } },
  "an amr that cannot be converted to text": { claims: { sub, exp, amr: { toString: 1 } } },
  "no typ": { header: { typ: undefined }, claims: { sub, exp } },
  "alg none, then HS256": { header: '{"alg":"none","alg":"HS256"}', claims: { sub, exp } },
  "a past exp, then a future one": { claims: `{"sub":"${sub}","exp":1,"exp":${exp}}` },
  whitespace: {
    header: ' {\n"alg":"HS256" } ',
    claims: `\r\n\t{ "sub" : "${sub}" ,\n"exp" : ${exp} } `,
  },
  "a header of less than 1,024 characters": { header: { x: "x".repeat(700) }, claims: { sub, exp } },
  "claims of 9 KB": { claims: { sub, exp, x: "x".repeat(9_000) } },
  "another typ and a kid": { header: { typ: "at+jwt", kid: "../../etc" }, claims: { sub, exp } },
};

/** With the first user, whose id is `sub`. */
const shared = shareService();
beforeAll(() => shared().register());

const getMe = (token: string) => shared().call("GET", "/auth/me", { token });

async function openTokens() {
  const { auth } = readConfig();
  return createTokens({
    ...auth,
    keys: await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY }),
  });
}

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

test("AUTH_CLAIMS adds claims with the state of the user, and the roles to the user, which clients cannot set", async () => {
  await using service = await startService({ env: EVERY_FEATURE });
  const body = { ...newCredentials(), roles: ["admin"] };
  const user = (await service.call("POST", "/auth/register", { body })).expect<User>(201);
  const token = await service.login(body);
  expect(user).toMatchObject({ roles: [] });
  expect(openToken(token).claims).toMatchObject({ roles: [], email_verified: false });
  await service.database.users.setRoles(user.id, ["admin"]);
  await service.database.users.update(user.id, { emailVerified: true });
  const changed = await service.call("PATCH", "/auth/me", { token, body: { roles: [], username: "ada" } });
  expect(changed.expect<User>(200)).toMatchObject({ username: "ada", roles: ["admin"] });
  const renewed = (await service.call("POST", "/auth/tokens", { token })).expect<Token>(200).access_token;
  for (const { claims } of [openToken(await service.login(body)), openToken(renewed)])
    expect(claims).toMatchObject({ roles: ["admin"], email_verified: true });
  await using other = await startService({ env: { AUTH_CLAIMS: "email_verified" } });
  const plain = await other.createUser();
  expect(openToken(plain.token).claims).not.toHaveProperty("roles");
  expect(plain.user).not.toHaveProperty("roles");
});

test("AUTH_TOKEN_EXPIRE_MINUTES sets the token lifetime", async () => {
  await using service = await startService({ env: { AUTH_TOKEN_EXPIRE_MINUTES: "7" } });
  const { claims } = openToken((await service.createUser()).token);
  expect(Number(claims.exp) - Number(claims.iat)).toBe(7 * 60);
});

test.each(["HS256", "HS384", "HS512"] as const)(
  "with AUTH_ALGORITHM %s, tokens are signed with it and tokens of other algorithms are rejected",
  async (chosen) => {
    await using service = await startService({ env: { AUTH_ALGORITHM: chosen } });
    const { id, token } = await service.createUser();
    expect(openToken(token).header.alg).toBe(chosen);
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

test.each(Object.entries(REJECTED))(
  "a token with %s returns 401 with a challenge",
  async (_name, forgery) => {
    expectInvalidToken(await getMe(forge(forgery)));
  },
);

test.each(Object.entries(ACCEPTED))("a token with %s is accepted", async (_name, forgery) => {
  expect((await getMe(forge(forgery))).expect<User>(200).id).toBe(1);
});

test("alg none is rejected in every spelling and with every signature", async () => {
  const { token } = await shared().createUser();
  for (const alg of ["none", "None", "NONE", "nOnE"]) {
    const content = `${encode({ alg })}.${encode({ sub, exp })}`;
    const signed = forge({ header: { alg }, claims: { sub, exp } });
    for (const forged of [content, `${content}.`, `${content}.${token.split(".")[2]}`, signed])
      expectInvalidToken(await getMe(forged));
  }
});

test("a sub that is a safe integer returns 404 if the user does not exist", async () => {
  for (const sub of ["0", "-1", "424242", "9007199254740991", "-9007199254740991"]) {
    const { status, text } = await getMe(forge({ claims: { sub, exp } }));
    expect([sub, status, text]).toEqual([sub, 404, '{"detail":"User not found","code":"USER_NOT_FOUND"}']);
  }
});

test("a token that is modified, truncated or extended anywhere returns 401", async () => {
  const { token } = await shared().createUser();
  const [header = "", claims = "", signature = ""] = token.split(".");
  const changed = [
    ...[0, header.length + 2, token.length - 3].map((at) => change(token, at)),
    ...[`${header}.${claims}`, `${header}.${claims}.`, `${header}..${signature}`, `.${claims}.${signature}`],
    ...[`${token}.${signature}`, `${token}A`, token.toUpperCase(), "a.b.c", "x".repeat(6000)],
  ];
  for (const other of changed) expectInvalidToken(await getMe(other));
});

/** Replaces the character at an index. */
const change = (token: string, at: number): string =>
  `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;

test("verify returns the user id, the version and the token id, and null for a token id that cannot be stored", async () => {
  const { sign, verify } = await openTokens();
  const token = await sign({ id: 7, tokenVersion: 3, roles: [], emailVerified: false });
  const tokenId = String(openToken(token).claims.jti);
  expect(await verify(token)).toEqual({ userId: 7, version: 3, tokenId, login: {} });
  expect(await sign({ id: 7, tokenVersion: 3, roles: [], emailVerified: false })).not.toBe(token);

  const tokenIdOf = async (jti?: unknown) => (await verify(forge({ claims: { sub, exp, jti } })))?.tokenId;
  expect(await tokenIdOf("x".repeat(128))).toBe("x".repeat(128));
  for (const jti of [undefined, null, 5, "", "x".repeat(129), "\0", "\ud800", "a b", ["a"]])
    expect([jti, await tokenIdOf(jti)]).toEqual([jti, null]);
  expect((await verify(forge({ claims: { sub, exp } })))?.version).toBe(0);
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
