/** Reading, updating and deleting the current user. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { clockPast } from "../../support/clock.ts";
import { examplesOf, fetchDocument } from "../../support/openapi/document.ts";
import { eachDatabase, shareService } from "../../support/service.ts";

const shared = shareService();

test("PATCH changes the username and updated_at and nothing else; with {} or unknown members, nothing at all", async () => {
  const service = shared();
  const { user, token, email, password } = await service.createUser();
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(user);
  clockPast(user.updated_at);
  const unknown = { email: "new@example.org", is_active: false, id: 99, hashed_password: "x" };
  for (const body of [{}, unknown]) {
    const unchanged = await service.call("PATCH", "/auth/me", { token, body });
    expect([unchanged.status, unchanged.body]).toEqual([200, user]);
  }
  const response = await service.call("PATCH", "/auth/me", { token, body: { username: "Renamed" } });
  const changed = response.expect<User>(200);
  expect(changed).toEqual({ ...user, username: "Renamed", updated_at: changed.updated_at });
  expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(user.updated_at));
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(changed);
  expect(await service.login({ email, password })).toBeString();
});

eachDatabase((startOn) => {
  test("PATCH stores and logs every member of its body, alone and together with a password", async () => {
    await using service = await startOn({ env: { LANGUAGES: "en,de" } });
    const { password, current_password, ...members } = examplesOf(await fetchDocument(service), "updateMe");
    expect(Object.keys(members)).toContain("locale");
    const { token } = await service.createUser();
    const patch = async (body: object) =>
      (await service.call("PATCH", "/auth/me", { token, body })).expect<object>(200);
    for (const [name, value] of Object.entries(members))
      expect(await patch({ [name]: value })).toMatchObject({ [name]: value });
    // The line of a request is written after its response.
    await service.request("/healthz");
    const logged = service.log.filter(({ event }) => event === "user.updated");
    expect(logged).toHaveLength(Object.keys(members).length);
    const { token: other } = await service.createUser();
    const body = { ...members, username: "another", password };
    const changed = await service.call("PATCH", "/auth/me", { token: other, body });
    expect(changed.expect<object>(200)).toMatchObject({ ...members, username: "another" });
  });
});

test("PATCH to another user's username returns 409, to the current username 200", async () => {
  const ada = await shared().createUser();
  const bob = await shared().createUser();
  const patch = (body: object) => shared().call("PATCH", "/auth/me", { token: bob.token, body });
  const taken = await patch({ username: ada.username, password: "not to be kept" });
  const detail = "A user with this e-mail or username already exists";
  expect([taken.status, taken.body]).toEqual([
    409,
    { detail, code: "USER_ALREADY_EXISTS", field: "username" },
  ]);
  expect(await shared().login(bob)).toBeString();
  expect((await patch({ username: bob.username })).status).toBe(200);
});

test("DELETE returns 204 without a body and deletes only the current user", async () => {
  const ada = await shared().createUser();
  const bob = await shared().createUser();
  const response = await shared().call("DELETE", "/auth/me", { token: ada.token });
  expect([response.status, response.text]).toEqual([204, ""]);
  expect(await shared().sql(`select username from users where id in (${ada.id}, ${bob.id})`)).toEqual([
    { username: bob.username },
  ]);
  expect((await shared().call("POST", "/auth/login", { body: ada })).status).toBe(401);
});
