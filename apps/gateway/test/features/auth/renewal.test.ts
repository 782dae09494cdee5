/** POST /auth/tokens: which tokens can be renewed, until when, and what a renewed token is worth after a change of its user. */
import { expect, test } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { forge, openToken, secondsFromNow } from "../../support/forge-token.ts";
import { EVERY_FEATURE, type Service, shareService, startService } from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const DAYS = Number(EVERY_FEATURE.AUTH_RENEWAL_DAYS) * 86_400;

const shared = shareService({ env: EVERY_FEATURE });

const post = ({ call }: Pick<Service, "call">, token: string) => call("POST", "/auth/tokens", { token });
const renew = async (service: Service, token: string) =>
  (await post(service, token)).expect<Token>(200).access_token;

/** Status, code and challenge. */
async function rejectionOf(token: string) {
  const { status, body, headers } = await post(shared(), token);
  return [status, (body as { code?: string }).code, headers.get("www-authenticate")];
}
const LOGIN_REQUIRED = [401, "LOGIN_REQUIRED", "Bearer"];

test("no token is valid later than the days after its login; from then on, a login is required", async () => {
  const { id } = await shared().createUser();
  const withLogin = (auth_time: unknown) =>
    forge({ claims: { sub: String(id), exp: secondsFromNow(60), auth_time } });
  const { claims } = openToken(await renew(shared(), withLogin(secondsFromNow(-600))));
  expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
  const last = secondsFromNow(60 - DAYS);
  expect(openToken(await renew(shared(), withLogin(last))).claims.exp).toBe(last + DAYS);
  // The last one is a token of the previous release.
  const malformed = [-1, 1.5, String(last), [last], null, undefined];
  for (const time of [secondsFromNow(-DAYS), secondsFromNow(60), ...malformed])
    expect([time, await rejectionOf(withLogin(time))]).toEqual([time, LOGIN_REQUIRED]);
});

test.each(["HS256", "HS512", "EdDSA"] as const)(
  "with %s, a renewed token has the header, the claims and the end of its login, but its own jti; the old one stays valid",
  async (AuthAlgorithm) => {
    const env = { AUTH_ISSUER: "https://a.example", AUTH_AUDIENCE: "b", AUTH_TOKEN_EXPIRE_MINUTES: "1441" };
    const key =
      AuthAlgorithm === "EdDSA" ? privateKeyVariables(AuthAlgorithm) : { AUTH_ALGORITHM: AuthAlgorithm };
    await using service = await startService({
      env: { ...EVERY_FEATURE, ...env, ...key, AUTH_RENEWAL_DAYS: "1" },
    });
    const { token } = await service.createUser();
    const derivations = service.derivations();
    const renewed = await renew(service, token);
    const [login, ...others] = [
      token,
      renewed,
      await renew(service, renewed),
      await renew(service, token),
    ].map(openToken);
    expect(Number(login?.claims.exp) - Number(login?.claims.auth_time)).toBe(86_400);
    for (const { header, claims } of others) {
      expect(header).toEqual(login?.header ?? {});
      expect(claims).toEqual({ ...login?.claims, jti: claims.jti, iat: claims.iat });
    }
    expect(new Set([login, ...others].map((one) => one?.claims.jti)).size).toBe(4);
    expect(service.derivations()).toBe(derivations);
  },
);

test("after a password change, its token cannot be renewed, and others are revoked; after a login, renewal works", async () => {
  const user = await shared().createUser();
  const other = await renew(shared(), user.token);
  const change = { token: user.token, body: { password: NEW_PASSWORD, current_password: user.password } };
  (await shared().call("PATCH", "/auth/me", change)).expect(200);
  expect(await rejectionOf(user.token)).toEqual(LOGIN_REQUIRED);
  expect(await rejectionOf(other)).toEqual([401, "INVALID_TOKEN", "Bearer"]);
  const token = await renew(shared(), await shared().login({ ...user, password: NEW_PASSWORD }));
  expect(openToken(token).claims.ver).toBe(1);
});

test("a token that is renewed while all tokens of its user are revoked is revoked, too", async () => {
  let revoke = async (): Promise<unknown> => undefined;
  await using service = await startService({
    env: EVERY_FEATURE,
    wrapDatabase: ({ users }) => ({
      users: { findAuthenticated: (id) => users.findAuthenticated(id).finally(() => revoke()) },
    }),
  });
  const { token } = await service.createUser();
  revoke = () => service.sql("update users set token_version = 1");
  const renewed = await renew(service, token);
  expect((await post(service, renewed)).status).toBe(401);
});

test("a token that expired within the idle hours is renewed, and by no other route accepted", async () => {
  const previous = "a previous secret key of 32 bytes";
  const env = { ...EVERY_FEATURE, AUTH_RENEWAL_DAYS: "7", AUTH_RENEWAL_IDLE_HOURS: "48" };
  await using service = await startService({ env: { ...env, AUTH_SECRET_KEY_PREVIOUS: previous } });
  const { id } = await service.createUser();
  const expired = (hours: number, { days = 0, key }: { days?: number; key?: string } = {}) =>
    forge({
      claims: {
        ...{ sub: String(id), exp: secondsFromNow(-3600 * hours) },
        auth_time: secondsFromNow(-86_400 * days - 3600 * hours - 60),
      },
      ...(key !== undefined && { key }),
    });
  const codeOf = async (token: string, method = "POST", path = "/auth/tokens") =>
    ((await service.call(method, path, { token })).body as { code?: string }).code;
  const renewed = await renew(service, expired(47.9));
  expect((await service.call("GET", "/auth/me", { token: renewed })).status).toBe(200);
  expect(await codeOf(expired(0.1), "GET", "/auth/me")).toBe("INVALID_TOKEN");
  expect(await codeOf(expired(0.1), "DELETE")).toBe("INVALID_TOKEN");
  expect(await codeOf(expired(48.1))).toBe("INVALID_TOKEN");
  expect(await codeOf(expired(1, { days: 7 }))).toBe("LOGIN_REQUIRED");
  // A leaked key must not give new tokens for longer than its tokens are valid.
  expect(await codeOf(expired(0.1, { key: previous }))).toBe("INVALID_TOKEN");
  await service.call("DELETE", "/auth/tokens", { token: renewed });
  expect(await codeOf(expired(1))).toBe("INVALID_TOKEN");
});

test("without idle hours, an expired token is not renewed", async () => {
  const { id } = await shared().createUser();
  const claims = { sub: String(id), exp: secondsFromNow(-1), auth_time: secondsFromNow(-60) };
  expect(await rejectionOf(forge({ claims }))).toEqual([401, "INVALID_TOKEN", "Bearer"]);
});
