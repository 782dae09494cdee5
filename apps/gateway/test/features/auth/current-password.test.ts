/** `current_password` in PATCH /auth/me: verified whenever it is sent, limited per user, and required if so configured. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { noPassword } from "@latchkey/database";
import { clockPast } from "../../support/clock.ts";
import { type Service, shareService, startService, type TestUser } from "../../support/service.ts";

const NEW_PASSWORD = "a new password";
const INCORRECT = [403, { detail: "Incorrect current password", code: "CURRENT_PASSWORD_INCORRECT" }];
const TOO_MANY = [
  429,
  { detail: "429: Too Many Requests: 10 wrong current passwords per 1 day", code: "TOO_MANY_REQUESTS" },
];

const patch = ({ call }: Service, { token }: TestUser, body: object) =>
  call("PATCH", "/auth/me", { token, body });
const statusOf = async (...patched: Parameters<typeof patch>) => (await patch(...patched)).status;

const shared = shareService();

test("the right value permits any change; sent alone, it changes nothing", async () => {
  const service = shared();
  const user = await service.createUser();
  clockPast(user.user.updated_at);
  const current = { current_password: user.password };
  const alone = await patch(service, user, current);
  expect([alone.status, alone.body]).toEqual([200, user.user]);
  const renamed = (await patch(service, user, { ...current, username: "renamed" })).expect<User>(200);
  expect(renamed).toEqual({ ...user.user, username: "renamed", updated_at: renamed.updated_at });
  expect(await statusOf(service, user, { ...current, password: NEW_PASSWORD })).toBe(200);
  expect(await service.login({ ...user, password: NEW_PASSWORD })).toBeString();
  expect(await statusOf(service, user, current)).toBe(403);
});

test("a wrong value returns 403 and changes nothing, not even updated_at", async () => {
  const service = shared();
  const user = await service.createUser();
  clockPast(user.user.updated_at);
  const { password } = user;
  for (const wrong of [NEW_PASSWORD, "", "x", "x".repeat(129), ` ${password}`, password.toUpperCase()]) {
    const body = { username: "renamed", password: NEW_PASSWORD, current_password: wrong };
    const response = await patch(service, user, body);
    expect([response.status, response.body]).toEqual(INCORRECT);
    expect(await statusOf(service, user, { current_password: wrong })).toBe(403);
  }
  expect((await service.call("GET", "/auth/me", { token: user.token })).body).toEqual(user.user);
  expect(await service.login(user)).toBeString();
});

test("with AUTH_REQUIRE_CURRENT_PASSWORD, a new password without the current one returns 422 and is not counted", async () => {
  await using service = await startService({
    env: {
      AUTH_REQUIRE_CURRENT_PASSWORD: "true",
      RATE_LIMIT_ENABLED: "true",
      RATE_LIMIT_PASSWORD_CHANGE: "1/hour",
    },
  });
  const user = await service.createUser();
  const detail = [{ loc: ["body", "current_password"], msg: "is required", type: "missing" }];
  const rejected = await patch(service, user, { username: "renamed", password: NEW_PASSWORD });
  expect([rejected.status, rejected.body]).toEqual([422, { detail, code: "INVALID_REQUEST" }]);
  expect((await patch(service, user, { password: "short" })).body).toMatchObject({
    detail: [{ type: "missing" }, { type: "string_too_short" }],
  });
  expect(await statusOf(service, user, { username: "renamed" })).toBe(200);
  const body = { password: NEW_PASSWORD, current_password: user.password };
  expect(await statusOf(service, user, body)).toBe(200);
  expect((await service.call("GET", "/openapi.json")).text).not.toContain("dependentRequired");
});

test("a user without a password whose other ways to log in are off gets 403, not 422, without a recent login", async () => {
  await using service = await startService({ env: { AUTH_REQUIRE_CURRENT_PASSWORD: "true" } });
  const user = await service.createUser();
  const { hashedPassword, importedHash } = noPassword();
  await service.sql(
    `update users set hashed_password = '${hashedPassword}', imported_hash = '${importedHash}' where id = ${user.user.id}`,
  );
  const recent = { detail: expect.any(String), code: "RECENT_LOGIN_REQUIRED" };
  const change = await patch(service, user, { password: NEW_PASSWORD });
  expect([change.status, change.body]).toEqual([403, recent]);
  expect(await statusOf(service, user, { password: "short" })).toBe(422);
});

test("the eleventh wrong value of a user in a day returns 429 without a derivation, as does the right value; other requests do not", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_PASSWORD_CHANGE: "1000/minute" },
  });
  const wrong = { current_password: "not the password" };
  const user = await service.createUser();
  const other = await service.createUser();
  for (let count = 1; count <= 10; count++) expect(await statusOf(service, user, wrong)).toBe(403);
  const derivations = service.derivations();
  for (const body of [wrong, { current_password: user.password }, { ...wrong, password: NEW_PASSWORD }]) {
    const rejected = await patch(service, user, body);
    expect([rejected.status, rejected.body]).toEqual(TOO_MANY);
    expect(Number(rejected.headers.get("retry-after"))).toBeWithin(86_300, 86_401);
    expect(rejected.headers.get("ratelimit-limit")).toBe("1000");
  }
  expect(service.derivations()).toBe(derivations);
  expect(await statusOf(service, other, wrong)).toBe(403);
  expect(await statusOf(service, user, { username: "renamed" })).toBe(200);
  expect(await statusOf(service, user, { password: NEW_PASSWORD })).toBe(200);
});
