/** Reading, updating and deleting the current user. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { clockPast } from "../../support/clock.ts";
import { startService } from "../../support/service.ts";

test("GET returns 200 with the same user as register, and no-store", async () => {
  await using service = await startService();
  const { user, token } = await service.createUser();
  const response = await service.call("GET", "/auth/me", { token });
  expect([response.status, response.body]).toEqual([200, user]);
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("PATCH changes the username and updated_at and nothing else", async () => {
  await using service = await startService();
  const { user, token, email, password } = await service.createUser();
  clockPast(user.updated_at);
  const response = await service.call("PATCH", "/auth/me", { token, body: { username: "Renamed" } });
  const changed = response.expect<User>(200);
  expect(changed).toEqual({ ...user, username: "Renamed", updated_at: changed.updated_at });
  expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(user.updated_at));
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(changed);
  expect(await service.login({ email, password })).toBeString();
});

test("after a PATCH with a password, the old password returns 401, the new one logs in and its own token remains valid", async () => {
  await using service = await startService();
  const { user, token, email, password } = await service.createUser();
  clockPast(user.updated_at);
  const response = await service.call("PATCH", "/auth/me", { token, body: { password: "a new password" } });
  expect(response.expect<User>(200).updated_at).not.toBe(user.updated_at);
  expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
  expect(await service.login({ email, password: "a new password" })).toBeString();
  expect((await service.call("GET", "/auth/me", { token })).status).toBe(200);
});

test("PATCH with {} or unknown members such as an e-mail changes nothing, not even updated_at", async () => {
  await using service = await startService();
  const { user, token } = await service.createUser();
  clockPast(user.updated_at);
  const unknown = { email: "new@example.org", is_active: false, id: 99, hashed_password: "x" };
  for (const body of [{}, unknown]) {
    const response = await service.call("PATCH", "/auth/me", { token, body });
    expect([response.status, response.body]).toEqual([200, user]);
  }
});

test("PATCH to another user's username returns 409, to the current username 200", async () => {
  await using service = await startService();
  const ada = await service.createUser();
  const bob = await service.createUser();
  const taken = await service.call("PATCH", "/auth/me", {
    token: bob.token,
    body: { username: ada.username, password: "not to be kept" },
  });
  expect([taken.status, taken.body]).toEqual([
    409,
    { detail: "A user with this e-mail or username already exists", code: "USER_ALREADY_EXISTS" },
  ]);
  expect(await service.login(bob)).toBeString();
  const own = await service.call("PATCH", "/auth/me", {
    token: bob.token,
    body: { username: bob.username },
  });
  expect(own.status).toBe(200);
});

test("DELETE returns 204 without a body and deletes only the current user", async () => {
  await using service = await startService();
  const ada = await service.createUser();
  const bob = await service.createUser();
  const response = await service.call("DELETE", "/auth/me", { token: ada.token });
  expect([response.status, response.text]).toEqual([204, ""]);
  expect(response.headers.get("content-type")).toBeNull();
  expect(await service.sql("select cast(id as integer) as id from users")).toEqual([{ id: bob.id }]);
  expect((await service.call("POST", "/auth/login", { body: ada })).status).toBe(401);
});
