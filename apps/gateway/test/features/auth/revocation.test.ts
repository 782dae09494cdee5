/** Which tokens a password change and DELETE /auth/tokens revoke, and which they do not. */
import { expect, test } from "bun:test";
import { forge, openToken, secondsFromNow } from "../../support/forge-token.ts";
import { shareService, type TestUser } from "../../support/service.ts";

const PASSWORDS = ["the second password", "the third password"] as const;
const INVALID_TOKEN = [401, { detail: "Invalid or expired token", code: "INVALID_TOKEN" }];

const shared = shareService();

const statusesOf = (...tokens: string[]) =>
  Promise.all(tokens.map(async (token) => (await shared().call("GET", "/auth/me", { token })).status));

const changePassword = async (token: string, password: string) =>
  (await shared().call("PATCH", "/auth/me", { token, body: { password } })).expect(200);

/** A token of the user with any further claims, as another release or an issuer with the same key would sign it. */
const forgeFor = ({ id }: TestUser, claims: object) =>
  forge({ claims: { sub: String(id), exp: secondsFromNow(60), ...claims } });

test("a password change revokes every token of the user except its own, until one with another token, and no token of another user", async () => {
  const user = await shared().createUser();
  const other = await shared().createUser();
  const second = await shared().login(user);
  await changePassword(second, PASSWORDS[0]);
  const renewed = await shared().login({ ...user, password: PASSWORDS[0] });
  expect(await statusesOf(user.token, second, renewed, other.token)).toEqual([401, 200, 200, 200]);
  await changePassword(second, PASSWORDS[1]);
  expect(await statusesOf(second, renewed)).toEqual([200, 401]);
  await changePassword(await shared().login({ ...user, password: PASSWORDS[1] }), PASSWORDS[0]);
  expect(await statusesOf(second)).toEqual([401]);
  const rejected = await shared().call("GET", "/auth/me", { token: user.token });
  expect([rejected.status, rejected.body]).toEqual(INVALID_TOKEN);
  expect(rejected.headers.get("www-authenticate")).toBe("Bearer");
});

test("a token without a jti can change the password and is revoked by this", async () => {
  const user = await shared().createUser();
  await changePassword(user.token, PASSWORDS[0]);
  const withoutId = forgeFor(user, { ver: 1 });
  await changePassword(withoutId, PASSWORDS[1]);
  expect((await shared().database.users.findById(user.id))?.passwordChangeTokenId).toBeNull();
  expect(await statusesOf(user.token, withoutId)).toEqual([401, 401]);
  expect(await shared().login({ ...user, password: PASSWORDS[1] })).toBeString();
});

test("DELETE /auth/tokens returns 204 without a body and revokes every token, including its own", async () => {
  const user = await shared().createUser();
  const other = await shared().createUser();
  const second = await shared().login(user);
  const response = await shared().call("DELETE", "/auth/tokens", { token: second });
  expect([response.status, response.text]).toEqual([204, ""]);
  expect(await statusesOf(user.token, second, other.token)).toEqual([401, 401, 200]);
  expect(await statusesOf(await shared().login(user))).toEqual([200]);
});

test("a change that is not a successful password change revokes nothing", async () => {
  const user = await shared().createUser();
  const { username } = await shared().createUser();
  const password = PASSWORDS[0];
  for (const [body, status] of [
    [{}, 200],
    [{ username: "renamed" }, 200],
    [{ current_password: user.password }, 200],
    [{ password, current_password: "wrong" }, 403],
    [{ password, username }, 409],
    [{ password: "short" }, 422],
  ] as const) {
    const second = await shared().login(user);
    expect((await shared().call("PATCH", "/auth/me", { token: user.token, body })).status).toBe(status);
    expect(await statusesOf(user.token, second)).toEqual([200, 200]);
  }
});

test("a token without a version has version 0; a version beyond the user's returns 401, also with the kept id", async () => {
  const user = await shared().createUser();
  const { jti } = openToken(user.token).claims;
  const [absent, beyond] = [forgeFor(user, {}), forgeFor(user, { ver: 2, jti })];
  expect(await statusesOf(absent, beyond)).toEqual([200, 401]);
  await changePassword(user.token, PASSWORDS[0]);
  const tokens = [absent, beyond, forgeFor(user, { ver: 1 }), forgeFor(user, { jti }), user.token];
  // A release without versions writes only the hash.
  await shared().sql(`update users set hashed_password = 'replaced' where id = ${user.id}`);
  expect(await statusesOf(...tokens)).toEqual([401, 401, 200, 200, 200]);
});

test("a token of before returns 403 while the user is inactive, 401 if it is revoked or the user active again, and 404 if deleted", async () => {
  const user = await shared().createUser();
  const valid = await shared().login(user);
  await changePassword(valid, PASSWORDS[0]);
  await shared().database.users.changeAsOperator(user.id, { isActive: false });
  expect(await statusesOf(user.token, valid)).toEqual([401, 403]);
  await shared().database.users.changeAsOperator(user.id, { isActive: true });
  expect(await statusesOf(user.token, valid)).toEqual([401, 401]);
  await shared().database.users.delete(user.id);
  expect(await statusesOf(user.token, valid)).toEqual([404, 404]);
});
