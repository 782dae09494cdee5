/** Reading, updating and deleting the current user. */
import { expect, test } from "bun:test";
import type { User } from "@latchkey/contracts";
import { clockPast } from "../../support/clock.ts";
import { eachDatabase } from "../../support/service.ts";

eachDatabase((startService) => {
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

  test("PATCH with {} returns 200 and changes nothing, not even updated_at", async () => {
    await using service = await startService();
    const { user, token } = await service.createUser();
    clockPast(user.updated_at);
    const response = await service.call("PATCH", "/auth/me", { token, body: {} });
    expect([response.status, response.body]).toEqual([200, user]);
  });

  test("PATCH ignores an e-mail and all other unknown members", async () => {
    await using service = await startService();
    const { user, token } = await service.createUser();
    clockPast(user.updated_at);
    const body = { email: "new@example.org", is_active: false, id: 99, hashed_password: "x", updated_at: 0 };
    const response = await service.call("PATCH", "/auth/me", { token, body });
    expect([response.status, response.body]).toEqual([200, user]);
  });

  test("PATCH with null as the body or as a member returns 422 and changes nothing", async () => {
    await using service = await startService();
    const { user, token } = await service.createUser();
    for (const body of ["null", { username: null }, { password: null }, { username: "x", password: null }]) {
      expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(422);
    }
    expect((await service.call("GET", "/auth/me", { token })).body).toEqual(user);
  });

  test("PATCH accepts usernames of 1 to 32 and passwords of 8 to 128 characters, like register", async () => {
    await using service = await startService();
    const { token } = await service.createUser();
    const statusOf = async (body: object) =>
      (await service.call("PATCH", "/auth/me", { token, body })).status;
    const outside = [
      { username: "" },
      { username: "u".repeat(33) },
      { password: "p".repeat(7) },
      { password: "p".repeat(129) },
    ];
    for (const body of outside) expect(await statusOf(body)).toBe(422);
    const inside = [
      { username: "u" },
      { username: "u".repeat(32) },
      { password: "p".repeat(8) },
      { password: "p".repeat(128) },
    ];
    for (const body of inside) expect(await statusOf(body)).toBe(200);
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

  test("of twelve concurrent PATCH requests with one username, exactly one succeeds", async () => {
    await using service = await startService();
    const users = await Promise.all(Array.from({ length: 12 }, () => service.createUser()));
    const responses = await Promise.all(
      users.map(({ token }) => service.call("PATCH", "/auth/me", { token, body: { username: "wanted" } })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
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

  test("the token of a deleted user returns 404 on every protected route", async () => {
    await using service = await startService();
    const { token } = await service.createUser();
    await service.call("DELETE", "/auth/me", { token });
    for (const [method, body] of [
      ["GET"],
      ["PATCH", { username: "x" }],
      ["PATCH", {}],
      ["DELETE"],
    ] as const) {
      const response = await service.call(method, "/auth/me", { token, body });
      expect([response.status, response.body]).toEqual([
        404,
        { detail: "User not found", code: "USER_NOT_FOUND" },
      ]);
    }
  });

  test("the token of a deleted user never gives access to the user registered next", async () => {
    await using service = await startService();
    const deleted = await service.createUser();
    await service.call("DELETE", "/auth/me", { token: deleted.token });
    const next = await service.createUser();
    expect(next.id).toBeGreaterThan(deleted.id);
    expect((await service.call("GET", "/auth/me", { token: deleted.token })).status).toBe(404);
    expect((await service.call("GET", "/auth/me", { token: next.token })).body).toEqual(next.user);
  });

  test("of two concurrent DELETE requests, one returns 204 and the other 404", async () => {
    await using service = await startService();
    const { token } = await service.createUser();
    const responses = await Promise.all([1, 2].map(() => service.call("DELETE", "/auth/me", { token })));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 404]);
  });

  test("a row updated or deleted in the database takes effect on the next request", async () => {
    await using service = await startService();
    const { id, token } = await service.createUser();
    await service.call("GET", "/auth/me", { token });
    await service.sql(`update users set username = 'by hand' where id = ${id}`);
    expect((await service.call("GET", "/auth/me", { token })).body).toMatchObject({ username: "by hand" });
    await service.sql(`delete from users where id = ${id}`);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(404);
  });

  test("a user inserted with SQL and only the required columns is complete and can log in at once", async () => {
    await using service = await startService();
    const { password } = await service.register();
    await service.sql(
      "insert into users (email, username, hashed_password) select 'hand@example.org', 'hand', hashed_password from users",
    );
    const token = await service.login({ email: "hand@example.org", password });
    const user = (await service.call("GET", "/auth/me", { token })).expect<User>(200);
    expect(user).toMatchObject({ email: "hand@example.org", username: "hand", is_active: true });
    expect(Math.abs(Date.parse(user.created_at) - Date.now())).toBeLessThan(10_000);
    expect(user.updated_at).toBe(user.created_at);
  });

  test("the columns of users and todos have the names of the fields", async () => {
    await using service = await startService();
    await service.register();
    await service.call("POST", "/todos", { body: { title: "x" } });
    const [user] = await service.sql<object>("select * from users");
    const [todo] = await service.sql<object>("select * from todos");
    expect(Object.keys(user ?? {}).sort()).toEqual([
      "created_at",
      "email",
      "email_verified",
      "hashed_password",
      "id",
      "is_active",
      "password_change_token_id",
      "token_version",
      "updated_at",
      "username",
    ]);
    expect(Object.keys(todo ?? {}).sort()).toEqual(["completed", "created_at", "id", "title", "updated_at"]);
  });
});
