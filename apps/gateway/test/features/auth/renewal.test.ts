/** POST /auth/tokens: which tokens can be renewed, until when, and what a renewed token is worth after a change of its user. */
import { expect, test } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { createKeyPair } from "@latchkey/testing/keys";
import { forge, openToken, secondsFromNow } from "../../support/forge-token.ts";
import {
  EVERY_FEATURE,
  eachDatabase,
  type Service,
  shareService,
  startService,
} from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const DAYS = Number(EVERY_FEATURE.AUTH_RENEWAL_DAYS) * 86_400;

const shared = shareService({ env: EVERY_FEATURE });

const post = ({ call }: Pick<Service, "call">, token: string) => call("POST", "/auth/tokens", { token });
const renew = async (service: Service, token: string) =>
  (await post(service, token)).expect<Token>(200).access_token;

/** Status, code and challenge. */
async function rejectionOf(service: Service, token: string) {
  const { status, body, headers } = await post(service, token);
  return [status, (body as { code?: string }).code, headers.get("www-authenticate")];
}
const LOGIN_REQUIRED = [401, "LOGIN_REQUIRED", "Bearer"];

test("a renewed token has the same login, user and lifetime, but its own jti; the old one stays valid", async () => {
  const user = await shared().createUser();
  await shared().sql(`update users set token_version = 3 where id = ${user.id}`);
  const claims = { sub: String(user.id), ver: 3, exp: secondsFromNow(60), auth_time: secondsFromNow(-600) };
  const token = forge({ claims });
  const derivations = shared().derivations();
  const first = await renew(shared(), token);
  const renewed = [first, await renew(shared(), first), await renew(shared(), token)].map(
    (one) => openToken(one).claims,
  );
  for (const { iat, exp, jti, ...kept } of renewed) {
    expect(kept).toMatchObject({ sub: claims.sub, ver: 3, auth_time: claims.auth_time });
    expect(Number(exp) - Number(iat)).toBe(3600);
  }
  expect(new Set(renewed.map(({ jti }) => jti)).size).toBe(3);
  expect(shared().derivations()).toBe(derivations);
});

test("no token is valid later than the days after its login; from then on, a login is required", async () => {
  const { id } = await shared().createUser();
  const withLogin = (auth_time: unknown) =>
    forge({
      claims: { sub: String(id), exp: secondsFromNow(60), ...(auth_time !== undefined && { auth_time }) },
    });
  const last = secondsFromNow(60 - DAYS);
  expect(openToken(await renew(shared(), withLogin(last))).claims.exp).toBe(last + DAYS);
  // The last one is a token of the previous release.
  for (const time of [
    secondsFromNow(-DAYS),
    -1,
    secondsFromNow(60),
    1.5,
    String(last),
    [last],
    null,
    undefined,
  ])
    expect([time, await rejectionOf(shared(), withLogin(time))]).toEqual([time, LOGIN_REQUIRED]);
});

test("a renewed token has the header and the claims of its login with every algorithm, issuer and audience", async () => {
  for (const AUTH_ALGORITHM of ["HS256", "HS512", "EdDSA"] as const) {
    const { privatePem } = createKeyPair("EdDSA");
    const key =
      AUTH_ALGORITHM === "EdDSA" ? { AUTH_SECRET_KEY: undefined, AUTH_PRIVATE_KEY: privatePem } : {};
    await using service = await startService({
      env: { ...EVERY_FEATURE, ...key, AUTH_ALGORITHM, AUTH_ISSUER: "https://a.example", AUTH_AUDIENCE: "b" },
    });
    const { token } = await service.createUser();
    const [login, renewed] = [token, await renew(service, token)].map(openToken);
    expect(renewed?.header).toEqual(login?.header ?? {});
    const { jti, iat, exp } = renewed?.claims ?? {};
    expect(renewed?.claims).toEqual({ ...login?.claims, jti, iat, exp });
    expect((await service.call("GET", "/auth/me", { token: await renew(service, token) })).status).toBe(200);
  }
});

test("the token of a login ends after the days, too", async () => {
  await using service = await startService({
    env: { AUTH_RENEWAL_DAYS: "1", AUTH_TOKEN_EXPIRE_MINUTES: "1441" },
  });
  const { exp, auth_time } = openToken((await service.createUser()).token).claims;
  expect(Number(exp) - Number(auth_time)).toBe(86_400);
});

test("without renewal, the path supports DELETE only", async () => {
  await using service = await startService();
  // Not compared with the document, which describes renewals.
  const response = await fetch(`${service.url}/auth/tokens`, { method: "POST" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "DELETE"]);
  expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
});

eachDatabase((startOn) => {
  test("after a password change, its token cannot be renewed, and others are revoked; after a login, renewal works", async () => {
    await using service = await startOn({ env: EVERY_FEATURE });
    const user = await service.createUser();
    const other = await renew(service, user.token);
    (await service.call("PATCH", "/auth/me", { token: user.token, body: { password: NEW_PASSWORD } })).expect(
      200,
    );
    expect(await rejectionOf(service, user.token)).toEqual(LOGIN_REQUIRED);
    expect(await rejectionOf(service, other)).toEqual([401, "INVALID_TOKEN", "Bearer"]);
    const token = await renew(service, await service.login({ ...user, password: NEW_PASSWORD }));
    expect(openToken(token).claims.ver).toBe(1);
  });

  test.each([
    ["a password change", 401, (id: number) => `update users set token_version = 1 where id = ${id}`],
    ["a deactivation", 403, (id: number) => `update users set is_active = false where id = ${id}`],
    ["a deletion", 404, (id: number) => `delete from users where id = ${id}`],
  ])("a token that is renewed during %s is worth nothing afterwards", async (_name, status, sql) => {
    let change: ((id: number) => Promise<unknown>) | undefined;
    await using service = await startOn({
      env: EVERY_FEATURE,
      wrapDatabase: ({ users }) => ({
        users: {
          async findById(id) {
            const user = await users.findById(id);
            await change?.(id);
            return user;
          },
        },
      }),
    });
    const { token } = await service.createUser();
    change = (id) => service.sql(sql(id));
    const renewed = await renew(service, token);
    change = undefined;
    expect((await post(service, renewed)).status).toBe(status);
    expect((await post(service, token)).status).toBe(status);
  });
});
