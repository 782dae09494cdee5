/** Codes of hosted login: whose token gives one, who can exchange it, and the attacks on both. */
import { afterEach, expect, setSystemTime, test } from "bun:test";
import type { AuthorizationResponse, ExchangedToken } from "@latchkey/contracts";
import { inFullRun } from "@latchkey/testing/full-run";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { openRedisStore } from "../../../src/rate-limit/redis-store.ts";
import { createMemoryStore } from "../../../src/rate-limit/store.ts";
import type { ClientResponse } from "../../support/client.ts";
import { enrolFactor } from "../../support/factors.ts";
import { forge, openToken, secondsFromNow } from "../../support/forge-token.ts";
import {
  CALLBACK,
  CHALLENGE,
  codeOf,
  exchange,
  FORM,
  requestCode,
  startWithClients,
} from "../../support/hosted-login.ts";
import { redisTest } from "../../support/redis.ts";
import { eachDatabase, HOSTED_LOGIN, type Service, type TestUser } from "../../support/service.ts";

afterEach(() => void setSystemTime());

const errorOf = ({ status, body }: ClientResponse): unknown[] => {
  const { code, error } = body as { code: string; error?: string };
  return [status, code, error];
};
const GRANT: unknown[] = [400, "INVALID_GRANT", "invalid_grant"];
const CLIENT = [400, "INVALID_CLIENT", "invalid_client"];
const REQUEST_ERROR = [400, "INVALID_TOKEN_REQUEST", "invalid_request"];

/** What ends the codes that a user has. */
const ENDS: Readonly<Record<string, (service: Service, user: TestUser) => Promise<unknown>>> = {
  "after a minute": async () => setSystemTime(Date.now() + 61_000),
  "after a change of the password": ({ call }, { token, password }) =>
    call("PATCH", "/auth/me", { token, body: { password: "a new passphrase", current_password: password } }),
  "after a revocation": ({ call }, { token }) => call("DELETE", "/auth/tokens", { token }),
  "after a deactivation": ({ sql }, { id }) => sql(`update users set is_active = false where id = ${id}`),
  "after a deletion": ({ call }, { token }) => call("DELETE", "/auth/me", { token }),
};

eachDatabase((startOn) => {
  test("a code gives a token of the login on the page, for the client and nobody else, and once", async () => {
    await using service = await startWithClients({}, startOn);
    const user = await service.createUser();
    const { auth_time } = openToken(user.token).claims;
    expect(auth_time).toBeNumber();
    const issued = await requestCode(service, user.token);
    const { code, iss } = issued.expect<AuthorizationResponse>(200);
    expect(iss).toBe(HOSTED_LOGIN.PUBLIC_URL);
    // What does not match must not use the code up.
    for (const [parameters, error] of [
      [{ client_id: "other" }, CLIENT],
      [{ client_id: "native" }, GRANT],
      [{ redirect_uri: `${CALLBACK}/` }, GRANT],
      [{ code_verifier: "a".repeat(43) }, GRANT],
      [{ code: `${code.slice(0, -1)}${code.endsWith("A") ? "B" : "A"}` }, GRANT],
      [{ code: user.token.slice(0, 2000) }, GRANT],
    ] as const)
      expect([parameters, errorOf(await exchange(service, code, parameters))]).toEqual([parameters, error]);
    setSystemTime(Date.now() + 30_000);
    const response = await exchange(service, code, { redirect_uri: CALLBACK });
    const { access_token, ...others } = response.expect<ExchangedToken>(200);
    expect(others).toEqual({ token_type: "bearer", expires_in: 3600 });
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(openToken(access_token).claims).toMatchObject({ auth_time, sub: String(user.id) });
    expect((await service.call("GET", "/auth/me", { token: access_token })).status).toBe(200);
    expect(errorOf(await exchange(service, code))).toEqual(GRANT);
    await service.request("/healthz");
    const events = service.log.filter(({ event }) => String(event).startsWith("authorization_code"));
    expect(events.map(({ event, reason }) => [event, reason])).toEqual([
      ["authorization_code.issued", undefined],
      ...["client", "code", "redirect_uri", "verifier", "code", "code"].map((reason) => [
        "authorization_code.rejected",
        reason,
      ]),
      ["authorization_code.exchanged", undefined],
      ["authorization_code.rejected", "used"],
    ]);
    expect(JSON.stringify(service.log)).not.toContain(code);
  });

  test("a code ends after a minute, and when its user changes", async () => {
    await using service = await startWithClients({}, startOn);
    for (const [when, end] of Object.entries(ENDS)) {
      const user = await service.createUser();
      const code = await codeOf(service, user.token);
      await end(service, user);
      expect([when, errorOf(await exchange(service, code))]).toEqual([when, GRANT]);
      setSystemTime();
    }
  });

  test("the token of a login with a second factor has its class and methods; enrolment ends codes", async () => {
    await using service = await startWithClients({ env: { AUTH_SECOND_FACTOR: "true" } }, startOn);
    const user = await service.createUser();
    await service.database.users.update(user.id, { emailVerified: true });
    const before = await codeOf(service, user.token);
    const { token } = await enrolFactor(service, user);
    expect(errorOf(await exchange(service, before))).toEqual(GRANT);
    const claims = {
      ...openToken(token).claims,
      exp: secondsFromNow(600),
      amr: ["pwd", "otp", "mfa"],
      acr: "2fa",
    };
    const response = await exchange(service, await codeOf(service, forge({ claims })));
    const { access_token } = response.expect<ExchangedToken>(200);
    expect(openToken(access_token).claims).toMatchObject({ acr: "2fa", amr: ["pwd", "otp", "mfa"] });
  });

  test("only a current token of a recent login gives a code, and a token of a code is no more recent", async () => {
    await using service = await startWithClients({}, startOn);
    const user = await service.createUser();
    const codeWith = async (claims: object) => {
      const all = { ...openToken(user.token).claims, exp: secondsFromNow(600), ...claims };
      return errorOf(await requestCode(service, forge({ claims: all })));
    };
    expect(await codeWith({ auth_time: secondsFromNow(-301) })).toEqual([
      403,
      "RECENT_LOGIN_REQUIRED",
      undefined,
    ]);
    expect(await codeWith({ auth_time: undefined })).toEqual([403, "RECENT_LOGIN_REQUIRED", undefined]);
    setSystemTime(Date.now() + 200_000);
    const code = await codeOf(service, user.token);
    const { access_token } = (await exchange(service, code)).expect<ExchangedToken>(200);
    setSystemTime(Date.now() + 200_000);
    expect(errorOf(await requestCode(service, access_token))[1]).toBe("RECENT_LOGIN_REQUIRED");
    setSystemTime();
    const body = { password: "a new passphrase", current_password: user.password };
    (await service.call("PATCH", "/auth/me", { token: user.token, body })).expect(200);
    expect((await service.call("GET", "/auth/me", { token: user.token })).status).toBe(200);
    expect(errorOf(await requestCode(service, user.token))).toEqual([401, "LOGIN_REQUIRED", undefined]);
  });
});

test("an unknown client, a redirect URI that is not its own, and a missing challenge give no code", async () => {
  await using service = await startWithClients();
  const { token } = await service.createUser();
  for (const body of [
    { client_id: "WEB" },
    { client_id: "native" },
    { redirect_uri: `${CALLBACK}?x` },
    { redirect_uri: "http://127.0.0.1/callback" },
    { code_challenge: CHALLENGE.slice(1) },
    { code_challenge: undefined },
  ])
    expect([body, errorOf(await requestCode(service, token, body))]).toEqual([
      body,
      [422, "INVALID_REQUEST", undefined],
    ]);
});

test("at a loopback address, the port of an application can be any, but a code is bound to it", async () => {
  await using service = await startWithClients();
  const { token } = await service.createUser();
  const redirect_uri = "http://127.0.0.1:51234/callback";
  const code = await codeOf(service, token, { client_id: "native", redirect_uri });
  const exchanged = (uri: string) => exchange(service, code, { client_id: "native", redirect_uri: uri });
  expect(errorOf(await exchanged("http://127.0.0.1:51235/callback"))).toEqual(GRANT);
  expect((await exchanged(redirect_uri)).status).toBe(200);
});

test("only a well-formed form is a token request, and its errors are those of OAuth", async () => {
  await using service = await startWithClients();
  const { token } = await service.createUser();
  const code = await codeOf(service, token);
  const valid = `grant_type=authorization_code&client_id=web&code=${code}&code_verifier=${"a".repeat(43)}`;
  const send = async (body: string, type = FORM["content-type"]) =>
    errorOf(await service.call("POST", "/oauth/token", { body, headers: { "content-type": type } }));
  const json = JSON.stringify(Object.fromEntries(new URLSearchParams(valid)));
  expect(await send(json, "application/json")).toEqual(REQUEST_ERROR);
  expect(await send(valid, "text/plain")).toEqual(REQUEST_ERROR);
  for (const name of ["grant_type", "client_id", "code", "code_verifier"]) {
    expect([name, await send(`${valid}&${name}=x`)]).toEqual([name, REQUEST_ERROR]);
    expect([name, await send(valid.replace(`${name}=`, "other="))]).toEqual([name, REQUEST_ERROR]);
    expect([name, await send(valid.replace(RegExp(`${name}=[^&]+`), `${name}=`))]).toEqual([
      name,
      REQUEST_ERROR,
    ]);
  }
  expect(await send(valid.replace("code_verifier=", "code_verifier=%00"))).toEqual(REQUEST_ERROR);
  expect(await send(`${valid}&redirect_uri=${"x".repeat(3000)}`)).toEqual(REQUEST_ERROR);
  expect(await send("grant_type=refresh_token&refresh_token=x")).toEqual([
    ...[400, "UNSUPPORTED_GRANT_TYPE", "unsupported_grant_type"],
  ]);
  expect(await send(`${valid}&x=${"x".repeat(130 * 1024)}`)).toEqual([
    ...[413, "PAYLOAD_TOO_LARGE", "invalid_request"],
  ]);
  // Parameters without a meaning here are ignored, and the code is not used up yet.
  expect(await send(`${valid}&resource=a&resource=b`, `${FORM["content-type"]}; charset=UTF-8`)).toEqual(
    GRANT,
  );
  expect((await exchange(service, code)).status).toBe(200);
  const form = { headers: FORM, body: "email=a%40example.org&password=long+enough" };
  expect((await service.call("POST", "/auth/login", form)).status).toBe(422);
});

test("rejected codes are limited like logins; accepted ones are not, because all can come from one server", async () => {
  const env = { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_LOGIN: "2/minute" };
  await using service = await startWithClients({ env });
  const { token } = await service.createUser();
  for (let index = 0; index < 3; index++)
    expect((await exchange(service, await codeOf(service, token))).status).toBe(200);
  for (const expected of [GRANT, GRANT, [429, "TOO_MANY_REQUESTS", "invalid_request"]])
    expect(errorOf(await exchange(service, "x.y"))).toEqual(expected);
  expect((await exchange(service, await codeOf(service, token))).status).toBe(200);
});

test("the metadata is below an issuer without a path, and every origin can read it", async () => {
  await using service = await startWithClients({ env: { CORS_ORIGINS: "https://app.example.com" } });
  const url = HOSTED_LOGIN.PUBLIC_URL;
  const headers = { origin: "https://other.example" };
  const response = await service.call("GET", "/.well-known/oauth-authorization-server", { headers });
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.expect<object>(200)).toEqual({
    issuer: url,
    authorization_endpoint: `${url}/account/authorize`,
    token_endpoint: `${url}/oauth/token`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  });
  const issuer = `${url}/login`;
  await using prefixed = await startWithClients({ env: { PUBLIC_URL: issuer, AUTH_ISSUER: issuer } });
  expect((await fetch(`${prefixed.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
});

test("the 61st code of a user in two minutes is not accepted, those of others are", async () => {
  await using service = await startWithClients();
  const exchangeNext = async ({ token }: TestUser) => exchange(service, await codeOf(service, token));
  const user = await service.createUser();
  for (let count = 0; count < 60; count++) (await exchangeNext(user)).expect(200);
  const code = await codeOf(service, user.token);
  const { status, body, headers } = await exchange(service, code);
  expect([status, body]).toMatchObject([429, { detail: expect.stringContaining("60 codes of a user") }]);
  expect(Number(headers.get("retry-after"))).toBeWithin(1, 121);
  (await exchangeNext(await service.createUser())).expect(200);
  // It was not used up.
  expect((await exchange(service, code)).status).toBe(429);
});

test("a code works once also where a clock is behind the one by which it ends", async () => {
  let elapsedMs = 0;
  await using service = await startWithClients({ store: createMemoryStore(() => elapsedMs) });
  const { token } = await service.createUser();
  const code = await codeOf(service, token);
  expect((await exchange(service, code)).status).toBe(200);
  // The clock of a replica, or one that was set back: the code is still valid when its use is a minute ago.
  elapsedMs += 60_500;
  setSystemTime(Date.now() + 30_000);
  expect(errorOf(await exchange(service, code))).toEqual(GRANT);
});

inFullRun(redisTest)("a code works once over replicas that share a Redis", async () => {
  await using redis = await startRedisServer();
  const logger = { info: () => {}, warn: () => {} };
  await using one = await openRedisStore({ url: redis.url, logger });
  await using other = await openRedisStore({ url: redis.url, logger });
  await using service = await startWithClients({ store: one });
  await using replica = await startWithClients({
    store: other,
    wrapDatabase: () => ({ users: { findById: service.database.users.findById } }),
  });
  const { token } = await service.createUser();
  const code = await codeOf(service, token);
  expect((await exchange(service, code)).status).toBe(200);
  expect(errorOf(await exchange(replica, code))).toEqual(GRANT);
});
