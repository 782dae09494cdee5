/** Which tokens a password change and DELETE /auth/tokens revoke, and which they do not. */
import { expect, test } from "bun:test";
import type { Database } from "@latchkey/database";
import { forge, openToken, secondsFromNow } from "../../support/forge-token.ts";
import { type Service, startService, type TestUser } from "../../support/service.ts";

const PASSWORDS = ["the second password", "the third password", "the fourth password"] as const;
const INVALID_TOKEN = [401, { detail: "Invalid or expired token", code: "INVALID_TOKEN" }];

const statusOf = async ({ call }: Service, token: string) =>
  (await call("GET", "/auth/me", { token })).status;
const statusesOf = (service: Service, tokens: readonly string[]) =>
  Promise.all(tokens.map((token) => statusOf(service, token)));

const changePassword = async ({ call }: Service, token: string, password: string) =>
  (await call("PATCH", "/auth/me", { token, body: { password } })).expect(200);

/** A token of the user with any further claims, as another release or an issuer with the same key would sign it. */
const forgeFor = ({ id }: TestUser, claims: object) =>
  forge({ claims: { sub: String(id), exp: secondsFromNow(60), ...claims } });

test("a password change revokes every token of the user except its own, and no token of another user", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const other = await service.createUser();
  const second = await service.login(user);
  await changePassword(service, second, PASSWORDS[0]);
  const renewed = await service.login({ ...user, password: PASSWORDS[0] });
  expect(await statusesOf(service, [user.token, second, renewed, other.token])).toEqual([401, 200, 200, 200]);
  const rejected = await service.call("GET", "/auth/me", { token: user.token });
  expect([rejected.status, rejected.body]).toEqual(INVALID_TOKEN);
  expect(rejected.headers.get("www-authenticate")).toBe("Bearer");
});

test("the token that changed a password stays valid after its own further changes", async () => {
  await using service = await startService();
  const user = await service.createUser();
  for (const password of PASSWORDS) await changePassword(service, user.token, password);
  expect(await statusOf(service, user.token)).toBe(200);
});

test("a password change with another token revokes the token that made the previous change", async () => {
  await using service = await startService();
  const user = await service.createUser();
  await changePassword(service, user.token, PASSWORDS[0]);
  const second = await service.login({ ...user, password: PASSWORDS[0] });
  expect(await statusesOf(service, [user.token, second])).toEqual([200, 200]);
  await changePassword(service, second, PASSWORDS[1]);
  expect(await statusesOf(service, [user.token, second])).toEqual([401, 200]);
});

test("a token without a jti can change the password and is revoked by this", async () => {
  await using service = await startService();
  const user = await service.createUser();
  await changePassword(service, user.token, PASSWORDS[0]);
  const withoutId = forgeFor(user, { ver: 1 });
  await changePassword(service, withoutId, PASSWORDS[1]);
  expect(await service.sql("select password_change_token_id as id from users")).toEqual([{ id: null }]);
  expect(await statusesOf(service, [user.token, withoutId])).toEqual([401, 401]);
  expect(await service.login({ ...user, password: PASSWORDS[1] })).toBeString();
});

test("DELETE /auth/tokens returns 204 without a body and revokes every token, including its own", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const other = await service.createUser();
  const second = await service.login(user);
  const response = await service.call("DELETE", "/auth/tokens", { token: second });
  expect([response.status, response.text]).toEqual([204, ""]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await statusesOf(service, [user.token, second, other.token])).toEqual([401, 401, 200]);
  expect(await statusOf(service, await service.login(user))).toBe(200);
});

test("a change that is not a successful password change revokes nothing", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const { username } = await service.createUser();
  const password = PASSWORDS[0];
  for (const [body, status] of [
    [{}, 200],
    [{ username: "renamed" }, 200],
    [{ current_password: user.password }, 200],
    [{ password, current_password: "wrong" }, 403],
    [{ password, username }, 409],
    [{ password: "short" }, 422],
  ] as const) {
    const second = await service.login(user);
    expect((await service.call("PATCH", "/auth/me", { token: user.token, body })).status).toBe(status);
    expect(await statusesOf(service, [user.token, second])).toEqual([200, 200]);
  }
  expect(await service.sql("select distinct token_version as version from users")).toEqual([{ version: 0 }]);
});

test("a token without a version has version 0; a version beyond the user's returns 401, also with the kept id", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const { jti } = openToken(user.token).claims;
  const [absent, beyond] = [forgeFor(user, {}), forgeFor(user, { ver: 2, jti })];
  expect(await statusesOf(service, [absent, beyond])).toEqual([200, 401]);
  await changePassword(service, user.token, PASSWORDS[0]);
  const current = forgeFor(user, { ver: 1 });
  const kept = forgeFor(user, { jti });
  expect(await statusesOf(service, [absent, beyond, current, kept, user.token])).toEqual([
    401, 401, 200, 200, 200,
  ]);
});

test("a revoked token returns 404 if the user is deleted, and 401, not 403, if the user is inactive", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const valid = await service.login(user);
  await changePassword(service, valid, PASSWORDS[0]);
  await service.sql("update users set is_active = false");
  expect(await statusesOf(service, [user.token, valid])).toEqual([401, 403]);
  await service.sql("delete from users");
  expect(await statusesOf(service, [user.token, valid])).toEqual([404, 404]);
});

test("beside a release without versions, its password changes revoke nothing, and its tokens are valid for version 0 only", async () => {
  await using service = await startService();
  const user = await service.createUser();
  const kept = await service.login(user);
  await changePassword(service, kept, PASSWORDS[0]);
  const current = await service.login({ ...user, password: PASSWORDS[0] });
  // The other release writes only the hash, and signs only `sub` and `exp`.
  await service.sql("update users set hashed_password = 'replaced'");
  expect(await statusesOf(service, [kept, current, forgeFor(user, {})])).toEqual([200, 200, 401]);
  const newcomer = await service.createUser();
  expect(await statusOf(service, forgeFor(newcomer, {}))).toBe(200);
});

test("an authenticated request runs one query", async () => {
  const calls: string[] = [];
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    users: new Proxy(database.users, {
      get(users, method: keyof Database["users"]) {
        calls.push(method);
        return users[method];
      },
    }),
  });
  await using service = await startService({ wrapDatabase });
  const user = await service.createUser();
  await changePassword(service, user.token, PASSWORDS[0]);
  const current = await service.login({ ...user, password: PASSWORDS[0] });
  for (const token of [user.token, current]) {
    calls.length = 0;
    expect(await statusOf(service, token)).toBe(200);
    expect(calls).toEqual(["findById"]);
  }
});
