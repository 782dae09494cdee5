/** Tokens are read only from a single Authorization header with the bearer scheme. */
import { expect, test } from "bun:test";
import type { CallOptions } from "../support/client.ts";
import { shareService } from "../support/service.ts";

const INVALID_TOKEN = '{"detail":"Invalid or expired token","code":"INVALID_TOKEN"}';

const shared = shareService();

test("the scheme is case-insensitive, and spaces around the token are ignored", async () => {
  const service = shared();
  const { user, token } = await service.createUser();
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR", " Bearer", "Bearer  "]) {
    const response = await service.raw(
      `GET /auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${scheme} ${token} \r\n\r\n`,
    );
    expect(response).toStartWith("HTTP/1.1 200 ");
    expect(response).toEndWith(JSON.stringify(user));
  }
});

test("another scheme, no scheme, an empty token and spaces inside the token return 401", async () => {
  const service = shared();
  const { token } = await service.createUser();
  const values = [
    "",
    "Bearer",
    token,
    `Basic ${token}`,
    `Bearer${token}`,
    `Bearer\t${token}`,
    `Bearer "${token}"`,
    `Bearer ${token} ${token}`,
    `Bearer ${token.replace(".", " .")}`,
    `Bearer ${token},`,
    `xBearer ${token}`,
  ];
  for (const authorization of values) {
    const { status, text } = await service.call("GET", "/auth/me", { headers: { authorization } });
    expect([authorization, status, text]).toEqual([authorization, 401, INVALID_TOKEN]);
  }
});

test("two Authorization headers return 401, even if one or both are valid", async () => {
  const service = shared();
  const { token } = await service.createUser();
  const [good, bad] = [`Authorization: Bearer ${token}`, "Authorization: Bearer x"];
  for (const [first, second] of [
    [good, bad],
    [bad, good],
    [good, good],
  ]) {
    const response = await service.raw(
      `GET /auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${first}\r\n${second}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 40[01] /);
  }
});

test("a token in the query, in a cookie or in the body is ignored", async () => {
  const service = shared();
  const { token } = await service.createUser();
  for (const name of ["token", "access_token", "authorization", "Authorization"]) {
    expect((await service.call("GET", `/auth/me?${name}=${token}`)).status).toBe(401);
  }
  const cookie = `access_token=${token}; Authorization=Bearer ${token}`;
  expect((await service.call("GET", "/auth/me", { headers: { cookie } })).status).toBe(401);
  const body = { access_token: token, username: "x" };
  expect((await service.call("PATCH", "/auth/me", { body })).status).toBe(401);
});

test("authentication precedes validation: only a body that is not JSON returns 422 without a token", async () => {
  const { token } = await shared().createUser();
  const patch = async (body: string | Uint8Array, options: CallOptions) => {
    const { status } = await shared().call("PATCH", "/auth/me", { body, ...options });
    return status;
  };
  for (const body of ['{"username":""}', '{"password":5}', "null", "[]", '"text"', "1"]) {
    expect(await patch(body, {})).toBe(401);
    expect(await patch(body, { token: `${token}x` })).toBe(401);
    expect(await patch(body, { token })).toBe(422);
  }
  for (const body of ["{", new Uint8Array([0x22, 0xff, 0x22])]) expect(await patch(body, {})).toBe(422);
  expect(await patch("{}", { headers: { "content-type": "text/plain" } })).toBe(422);
});

test("login, probes and todos ignore an invalid token", async () => {
  const { email, password } = await shared().register();
  const [token, body] = ["garbage", { email, password }];
  expect((await shared().call("POST", "/auth/login", { token, body })).status).toBe(200);
  for (const path of ["/healthz", "/readyz", "/todos"])
    expect((await shared().call("GET", path, { token })).status).toBe(200);
});
