/** The contents of access tokens, and which forged tokens are accepted and rejected. */
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { ClientResponse } from "../support/client.ts";
import { encode, type Forgery, forge, openToken, secondsFromNow } from "../support/forge-token.ts";
import { readConfig, SECRET_KEY, shareService, startService } from "../support/service.ts";

const INVALID_TOKEN = '{"detail":"Invalid or expired token","code":"INVALID_TOKEN"}';
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
const REJECTED: Readonly<Record<string, (sub: string) => Forgery>> = {
  "another key": (sub) => ({ claims: { sub, exp }, key: OTHER_KEY }),
  "an empty key": (sub) => ({ claims: { sub, exp }, key: "" }),
  "HS384 by the same key": (sub) => ({ claims: { sub, exp }, algorithm: "HS384" }),
  "HS512 by the same key": (sub) => ({ claims: { sub, exp }, algorithm: "HS512" }),
  "alg HS256 in lower case": (sub) => ({ header: { alg: "hs256" }, claims: { sub, exp } }),
  "alg RS256": (sub) => ({ header: { alg: "RS256" }, claims: { sub, exp } }),
  "alg HS512 over an HS256 signature": (sub) => ({ header: { alg: "HS512" }, claims: { sub, exp } }),
  "no alg": (sub) => ({ header: { alg: undefined }, claims: { sub, exp } }),
  "alg as an array": (sub) => ({ header: { alg: ["HS256"] }, claims: { sub, exp } }),
  "alg only inherited": (sub) => ({ header: '{"__proto__":{"alg":"HS256"}}', claims: { sub, exp } }),
  "an unknown crit": (sub) => ({ header: { crit: ["x"], x: 1 }, claims: { sub, exp } }),
  "a crit that libraries know": (sub) => ({ header: { crit: ["b64"], b64: true }, claims: { sub, exp } }),
  "an empty crit": (sub) => ({ header: { crit: [] }, claims: { sub, exp } }),
  "a header that is not JSON": (sub) => ({ header: "HS256", claims: { sub, exp } }),
  "a header that is null": (sub) => ({ header: "null", claims: { sub, exp } }),
  "claims that are not JSON": () => ({ claims: "sub" }),
  "claims that are null": () => ({ claims: "null" }),
  "claims that are an array": (sub) => ({ claims: [sub, exp] }),
  "claims that are only inherited": (sub) => ({ claims: `{"__proto__":{"sub":"${sub}","exp":${exp}}}` }),
  "no exp": (sub) => ({ claims: { sub } }),
  "exp null": (sub) => ({ claims: { sub, exp: null } }),
  "exp as text": (sub) => ({ claims: { sub, exp: String(exp) } }),
  "exp a second ago": (sub) => ({ claims: { sub, exp: secondsFromNow(-1) } }),
  "exp this second": (sub) => ({ claims: { sub, exp: secondsFromNow(0) } }),
  "a negative exp": (sub) => ({ claims: { sub, exp: -exp } }),
  "a future nbf": (sub) => ({ claims: { sub, exp, nbf: secondsFromNow(60) } }),
  "nbf as text": (sub) => ({ claims: { sub, exp, nbf: "0" } }),
  "no sub": () => ({ claims: { exp } }),
  "sub as a number": (sub) => ({ claims: { sub: Number(sub), exp } }),
  "sub in an array": (sub) => ({ claims: { sub: [sub], exp } }),
  "sub null": () => ({ claims: { sub: null, exp } }),
  ...Object.fromEntries(
    ["", "abc", "1.0", "01", "+1", "-0", "1e0", "0x1", " 1", "1\n", "NaN", "1,000"].map((sub) => [
      `sub ${JSON.stringify(sub)}`,
      () => ({ claims: { sub, exp } }),
    ]),
  ),
  "sub 2^53, which is not a safe integer": () => ({ claims: { sub: "9007199254740992", exp } }),
  ...Object.fromEntries(
    [-1, 0.5, 2 ** 53, 1e300, "0", "", null, true, [0], {}].map((ver) => [
      `ver ${JSON.stringify(ver)}`,
      (sub: string) => ({ claims: { sub, exp, ver } }),
    ]),
  ),
  "sub of 400 digits": () => ({ claims: { sub: "9".repeat(400), exp } }),
  // The last value of a repeated member counts (RFC 7519 §4).
  "alg HS256, then none": (sub) => ({ header: '{"alg":"HS256","alg":"none"}', claims: { sub, exp } }),
  "alg HS256, then HS512": (sub) => ({ header: '{"alg":"HS256","alg":"HS512"}', claims: { sub, exp } }),
  "a future exp, then a past one": (sub) => ({ claims: `{"sub":"${sub}","exp":${exp},"exp":1}` }),
  "sub as text, then a number": (sub) => ({ claims: `{"sub":"${sub}","sub":1,"exp":${exp}}` }),
  "a header of more than 1,024 characters": (sub) => ({
    header: { x: "x".repeat(800) },
    claims: { sub, exp },
  }),
};

const ACCEPTED: Readonly<Record<string, (sub: string) => Forgery>> = {
  "no iat": (sub) => ({ claims: { sub, exp } }),
  "iat in the future": (sub) => ({ claims: { sub, exp, iat: secondsFromNow(3600) } }),
  "iat as text": (sub) => ({ claims: { sub, exp, iat: "yesterday" } }),
  "iat null": (sub) => ({ claims: { sub, exp, iat: null } }),
  "a negative fractional iat": (sub) => ({ claims: { sub, exp, iat: -0.5 } }),
  "nbf in the past": (sub) => ({ claims: { sub, exp, nbf: secondsFromNow(-1) } }),
  "an exp in the far future": (sub) => ({ claims: { sub, exp: 1e300 } }),
  "additional claims": (sub) => ({ claims: { sub, exp, iss: "x", aud: ["y"], jti: 5, admin: true } }),
  "ver 0 and a jti": (sub) => ({ claims: { sub, exp, ver: 0, jti: "a" } }),
  "a jti that cannot be stored": (sub) => ({ claims: { sub, exp, jti: "\0".repeat(200) } }),
  "jti null": (sub) => ({ claims: { sub, exp, jti: null } }),
  "no typ": (sub) => ({ header: { typ: undefined }, claims: { sub, exp } }),
  "alg none, then HS256": (sub) => ({ header: '{"alg":"none","alg":"HS256"}', claims: { sub, exp } }),
  "a past exp, then a future one": (sub) => ({ claims: `{"sub":"${sub}","exp":1,"exp":${exp}}` }),
  "the sub of no user, then of one": (sub) => ({ claims: `{"sub":"424242","sub":"${sub}","exp":${exp}}` }),
  whitespace: (sub) => ({
    header: ' {\n"alg":"HS256" } ',
    claims: `\r\n\t{ "sub" : "${sub}" ,\n"exp" : ${exp} } `,
  }),
  "a header of less than 1,024 characters": (sub) => ({
    header: { x: "x".repeat(700) },
    claims: { sub, exp },
  }),
  "claims of 9 KB": (sub) => ({ claims: { sub, exp, x: "x".repeat(9_000) } }),
  "another typ and a kid": (sub) => ({ header: { typ: "at+jwt", kid: "../../etc" }, claims: { sub, exp } }),
};

const shared = shareService();

test("a token contains sub as text, ver, jti, iat and exp, no personal data, and expires after 60 minutes", async () => {
  const service = shared();
  const { id, token } = await service.createUser();
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
    const service = shared();
    const { user } = await service.register();
    expectInvalidToken(await service.call("GET", "/auth/me", { token: forge(forgery(String(user.id))) }));
  },
);

test.each(Object.entries(ACCEPTED))("a token with %s is accepted", async (_name, forgery) => {
  const service = shared();
  const { user } = await service.register();
  const response = await service.call("GET", "/auth/me", { token: forge(forgery(String(user.id))) });
  expect([response.status, response.body]).toEqual([200, user]);
});

test("alg none is rejected in every spelling and with every signature", async () => {
  const service = shared();
  const { id, token } = await service.createUser();
  for (const alg of ["none", "None", "NONE", "nOnE"]) {
    const content = `${encode({ alg })}.${encode({ sub: String(id), exp })}`;
    const signed = forge({ header: { alg }, claims: { sub: String(id), exp } });
    for (const forged of [content, `${content}.`, `${content}.${token.split(".")[2]}`, signed]) {
      expectInvalidToken(await service.call("GET", "/auth/me", { token: forged }));
    }
  }
});

test("a sub that is a safe integer returns 404 if the user does not exist", async () => {
  const service = shared();
  for (const sub of ["0", "-1", "424242", "9007199254740991", "-9007199254740991"]) {
    const response = await service.call("GET", "/auth/me", { token: forge({ claims: { sub, exp } }) });
    expect([sub, response.status, response.body]).toEqual([
      sub,
      404,
      { detail: "User not found", code: "USER_NOT_FOUND" },
    ]);
  }
});

test("a token that is modified, truncated or extended anywhere returns 401", async () => {
  const service = shared();
  const { token } = await service.createUser();
  const [header = "", claims = "", signature = ""] = token.split(".");
  const changed = [
    ...[0, header.length + 2, token.length - 3].map((at) => {
      const other = token[at] === "A" ? "B" : "A";
      return `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
    }),
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}..${signature}`,
    `.${claims}.${signature}`,
    `${token}.${signature}`,
    `${token}A`,
    token.toUpperCase(),
    "a.b.c",
    "x".repeat(6000),
  ];
  for (const other of changed) expectInvalidToken(await service.call("GET", "/auth/me", { token: other }));
});

test("verify returns the user id, the version and the token id, and null for a token id that cannot be stored", async () => {
  const { auth } = readConfig();
  const keys = await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY });
  const { sign, verify } = createTokens({ ...auth, keys });
  const token = await sign({ userId: 7, version: 3 });
  expect(await verify(token)).toEqual({
    userId: 7,
    version: 3,
    tokenId: String(openToken(token).claims.jti),
  });
  expect(await sign({ userId: 7, version: 3 })).not.toBe(token);

  const tokenIdOf = async (jti?: unknown) =>
    (await verify(forge({ claims: { sub: "7", exp, jti } })))?.tokenId;
  expect(await tokenIdOf("x".repeat(128))).toBe("x".repeat(128));
  for (const jti of [undefined, null, 5, "", "x".repeat(129), "\0", "\ud800", "a b", ["a"]]) {
    expect([jti, await tokenIdOf(jti)]).toEqual([jti, null]);
  }
  expect((await verify(forge({ claims: { sub: "7", exp } })))?.version).toBe(0);
});

test("a token that was verified before expires, and a changed one is rejected", async () => {
  const auth = readConfig().auth;
  const keys = await importTokenKeys({ ...auth, openSecretKey: () => SECRET_KEY });
  const { verify } = createTokens({ ...auth, keys });
  const token = forge({ claims: { sub: "7", exp: secondsFromNow(60) } });
  expect((await verify(token))?.userId).toBe(7);
  expect((await verify(token))?.userId).toBe(7);
  for (const at of [0, token.indexOf(".") + 1, token.lastIndexOf(".") + 1]) {
    const changed = token[at] === "a" ? "b" : "a";
    expect(await verify(token.slice(0, at) + changed + token.slice(at + 1))).toBeNull();
  }
  expect(await verify(`${token}=`)).toBeNull();
  setSystemTime(Date.now() + 61_000);
  expect(await verify(token)).toBeNull();
});
