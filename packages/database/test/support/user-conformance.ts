/** The behaviour of users that all databases have in common. */
import { expect } from "bun:test";
import { type Guard, isRevoked, UserAlreadyExists, type UserSearch } from "../../src/index.ts";
import { ada, bob, errorOf, type Test, waitUntilAfter } from "./test-database.ts";

const MAX_ID = Number.MAX_SAFE_INTEGER;

export function userConformance(test: Test): void {
  test("a created user is found by id and by exactly this e-mail", async ({ users }) => {
    const created = await users.create(ada);
    expect(created).toMatchObject({ ...ada, isActive: true });
    expect(created.id).toBeGreaterThan(0);
    expect(created.updatedAt).toEqual(created.createdAt);
    expect(await users.findById(created.id)).toEqual(created);
    expect(await users.findByEmail(ada.email)).toEqual({ ...created, networkSeenAt: null });
    for (const email of ["Ada@example.org", "ada@example.org ", "ada@example.or_", "%"])
      expect(await users.findByEmail(email)).toBeNull();
  });

  test("methods return null or false for a user who does not exist", async ({ users }) => {
    for (const id of [1, 2 ** 31, 2 ** 32, 2 ** 53 - 2, MAX_ID]) {
      expect(await users.findById(id)).toBeNull();
      expect(await users.update(id, { username: "x" })).toBeNull();
      expect(await users.update(id, {})).toBeNull();
      expect(await users.changeAsOperator(id, { isActive: false })).toBeNull();
      expect(await users.revokeTokens(id)).toBeNull();
      expect(await users.changeAsOperator(id, { roles: [] })).toBeNull();
      expect(await users.delete(id)).toBe(false);
      expect(await users.list({ after: id, limit: 10 })).toEqual([]);
    }
    expect(await users.findByEmail("nobody@example.org")).toBeNull();
  });

  test("ids above 32 bits are read as exact numbers", async ({ users, todos, query }) => {
    const id = 2 ** 40 + 1;
    await query(
      `insert into users (id, email, username, hashed_password) values (${id}, 'a@b.c', 'a', 's$d')`,
    );
    await query(`insert into todos (id, title) values (${id}, 'large id')`);
    expect((await users.findById(id))?.id).toBe(id);
    expect((await todos.list({ after: id - 1, limit: 2 })).map((todo) => todo.id)).toEqual([id]);
    expect(await todos.list({ after: id, limit: 2 })).toEqual([]);
  });

  test("create and update reject a taken e-mail address or username", async ({ users }) => {
    await users.create(ada);
    const other = await users.create(bob);
    for (const change of [
      () => users.create({ ...bob, email: ada.email, username: "new" }),
      () => users.create({ ...bob, email: "new@example.org" }),
      () => users.update(other.id, { username: ada.username }),
    ])
      expect(await errorOf(change())).toBeInstanceOf(UserAlreadyExists);
    expect(await users.findById(other.id)).toEqual(other);
    expect(await users.update(other.id, { username: bob.username })).toMatchObject(bob);
  });

  test("of twenty registrations at once over two connections, one succeeds", async ({ database, reopen }) => {
    await using second = await reopen();
    const registrations = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? database : second).users.create({ ...ada, email: `ada${index % 3}@example.org` }),
    );
    const outcomes = await Promise.allSettled(registrations);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(reasons).toEqual(Array(19).fill(expect.any(UserAlreadyExists)));
  });

  test("usernames are stored unchanged and compared exactly", async ({ users }) => {
    const usernames = ["ada", "Ada", "ada ", "é", "e\u0301", "ß", "ss", "\u{1F600}", "İ", "i", "I", "ı"];
    usernames.push("'; drop table users; --", "\\ \" ' % _ \u{10FFFF} \r\n\t $1 ? :a");
    for (const [index, username] of usernames.entries()) {
      const user = await users.create({ ...ada, email: `u${index}@example.org`, username });
      expect((await users.findById(user.id))?.username).toBe(username);
    }
    expect(await errorOf(users.create({ ...bob, username: "\u{1F600}" }))).toBeInstanceOf(UserAlreadyExists);
  });

  test("update changes only the given fields and updatedAt", async ({ users }) => {
    const created = await users.create(ada);
    await waitUntilAfter(created.updatedAt);
    expect(await users.update(created.id, {})).toEqual(created);
    const renamed = await users.update(created.id, { username: "countess" });
    expect(renamed).toEqual({ ...created, username: "countess", updatedAt: renamed?.updatedAt ?? "" });
    expect(Date.parse(renamed?.updatedAt ?? "")).toBeGreaterThan(Date.parse(created.updatedAt));
    const rehashed = await users.update(created.id, { hashedPassword: "other$digest" });
    expect(rehashed).toMatchObject({ username: "countess", hashedPassword: "other$digest" });
    expect(await users.findById(created.id)).toEqual(rehashed);
  });

  test("a change requires an active user and a token that is not revoked", async ({ users, query }) => {
    const { id } = await users.create(ada);
    const old = { hash: "old$digest" };
    const imported = [1, 2].map((version) => ({ ...old, importedVersion: version }));
    const passwords = [{ hash: ada.hashedPassword }, old, ...imported].map((password) => ({ password }));
    const guards: Guard[] = [0, 1, 2, 3].flatMap((version) =>
      [null, "kept", "other"].flatMap((exceptToken) =>
        [{}, ...passwords].map((password) => ({ version, exceptToken, ...password })),
      ),
    );
    let changes = 0;
    for (const isActive of [true, false])
      for (const keptId of ["null", "'kept'"])
        for (const importedHash of ["null", "'imported'"]) {
          const columns = `password_change_token_id = ${keptId}, imported_hash = ${importedHash}`;
          await query(`update users set token_version = 2, is_active = ${isActive}, ${columns}`);
          const user = await users.findById(id);
          for (const guard of guards) {
            const changed = await users.update(id, { username: crypto.randomUUID() }, guard);
            const isAllowed = isActive && user !== null && !isRevoked(guard, user);
            expect([guard, changed !== null]).toEqual([guard, isAllowed]);
            changes += Number(changed !== null);
          }
        }
    expect(changes).toBe(40);
  });

  test("a new hash, a revocation and an activation increment the token version", async ({ users }) => {
    const { id } = await users.create(ada);
    const other = await users.create(bob);
    const revoked = async () => {
      const user = await users.findById(id);
      return user && [user.tokenVersion, user.passwordChangeTokenId];
    };
    expect(await revoked()).toEqual([0, null]);
    const changed = await users.update(id, { hashedPassword: "a$b", passwordChangeTokenId: "first" });
    expect(changed).toMatchObject({ tokenVersion: 1, passwordChangeTokenId: "first" });
    await users.update(id, { username: "countess", passwordChangeTokenId: "ignored" });
    await users.changeAsOperator(id, { isActive: true });
    expect(await revoked()).toEqual([1, "first"]);
    await users.update(id, { hashedPassword: "c$d", passwordChangeTokenId: "second" });
    expect(await revoked()).toEqual([2, "second"]);
    await users.update(id, { hashedPassword: "e$f" });
    expect(await revoked()).toEqual([3, null]);
    await users.update(id, { hashedPassword: "g$h", passwordChangeTokenId: "third" });
    await users.changeAsOperator(id, { isActive: false });
    expect(await revoked()).toEqual([4, "third"]);
    await users.changeAsOperator(id, { isActive: true });
    expect(await revoked()).toEqual([5, null]);
    await users.update(id, { hashedPassword: "g$h", passwordChangeTokenId: "fourth" });
    const after = await users.revokeTokens(id);
    expect(after).toMatchObject({ tokenVersion: 7, passwordChangeTokenId: null, hashedPassword: "g$h" });
    expect(await revoked()).toEqual([7, null]);
    expect(await users.findById(other.id)).toEqual(other);
  });

  test("removing a role, also concurrently, revokes the tokens", async ({ database, query, reopen }) => {
    const { users } = database;
    const { id } = await users.create(ada);
    await users.update(id, { hashedPassword: "a$b", passwordChangeTokenId: "kept" });
    const added = await users.changeAsOperator(id, { roles: ["a", "b"] });
    expect(added?.user).toMatchObject({ roles: ["a", "b"], tokenVersion: 1, passwordChangeTokenId: "kept" });
    const removed = await users.changeAsOperator(id, { roles: ["a", "c"] });
    expect(removed?.user).toMatchObject({ roles: ["a", "c"], tokenVersion: 2, passwordChangeTokenId: null });
    expect(await users.findById(id)).toEqual(removed?.user ?? null);
    await using second = await reopen();
    const databases = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? database : second));
    await Promise.all(
      databases.map(({ users }, index) => users.changeAsOperator(id, { roles: [`r${index}`] })),
    );
    expect((await users.findById(id))?.tokenVersion).toBe(12);
    for (const text of ["", "{}", "[1", "[1]"]) {
      await query(`update users set roles = '${text}'`);
      expect((await users.findById(id))?.roles).toEqual([]);
    }
  });

  test("claims are replaced without ending a token, and of what SQL stored only valid claims are read", async ({
    users,
    query,
  }) => {
    const claims = { plan: "pro", seats: 5, "eu:beta": true, teams: ["ä", 1, false] };
    const { id, ...created } = await users.create({ ...ada, claims });
    expect([created.claims, (await users.create(bob)).claims]).toEqual([claims, {}]);
    await users.update(id, { hashedPassword: "a$b", passwordChangeTokenId: "kept" });
    const changed = await users.changeAsOperator(id, { claims: { plan: "free" } });
    expect(changed?.user).toMatchObject({ tokenVersion: 1, passwordChangeTokenId: "kept" });
    expect([changed?.before.claims, changed?.user.claims]).toEqual([claims, { plan: "free" }]);
    expect(await users.findById(id)).toEqual(changed?.user ?? null);
    const stored = ["", "[]", "null", "{", '{"a":{},"b":null,"c":[[]],"d":1e999}', '{"plan":"x","a":{}}'];
    const read: unknown[] = [];
    for (const text of stored) {
      await query(`update users set claims = '${text}'`);
      read.push((await users.findById(id))?.claims);
    }
    expect(read).toEqual([{}, {}, {}, {}, {}, { plan: "x" }]);
  });

  test("the id of a deleted row is never reused, even that of the latest row", async ({ users, todos }) => {
    const user = await users.create(ada);
    expect(await users.delete(user.id)).toBe(true);
    expect(await users.delete(user.id)).toBe(false);
    expect(await users.findByEmail(ada.email)).toBeNull();
    expect((await users.create(ada)).id).toBeGreaterThan(user.id);
    const todo = await todos.create({ title: "once", completed: false });
    expect(await todos.delete(todo.id)).toBe(true);
    expect((await todos.create({ title: "twice", completed: false })).id).toBeGreaterThan(todo.id);
  });

  test("users are found by text, domain and state, and deleted together", async ({ users }) => {
    const ids: number[] = [];
    for (const [email, username] of [
      ["one@a.example", "100%_!Äda"],
      ["two@sub.a.example", "1000"],
      ["three@a.example", "a_example"],
    ] as const)
      ids.push((await users.create({ email, username, hashedPassword: "salt$digest" })).id);
    const [one = 0, two = 0, three = 0] = ids;
    await users.changeAsOperator(three, { isActive: false });
    const find = async (request: Partial<UserSearch>) =>
      (await users.list({ after: 0, limit: 10, ...request })).map(({ id }) => id);
    expect(await find({ contains: "@A.EXAMPLE" })).toEqual([one, three]);
    for (const contains of ["0%", "%_!Ä", "!ÄDA"])
      expect([contains, await find({ contains })]).toEqual([contains, [one]]);
    expect(await find({ contains: "A_E" })).toEqual([three]);
    expect(await find({ contains: "100" })).toEqual([one, two]);
    expect(await find({ domain: "a.example" })).toEqual([one, three]);
    expect(await find({ domain: "_.example" })).toEqual([]);
    expect(await find({ isActive: false })).toEqual([three]);
    expect(await find({ isActive: false, contains: "one" })).toEqual([]);
    await users.changeAsOperator(three, { isActive: true });
    expect(await find({ isActive: false })).toEqual([]);
    expect((await users.deleteAll([one, three, 4_000])).toSorted()).toEqual([one, three]);
    expect(await find({})).toEqual([two]);
  });

  test("users of an internationalized domain are found by each of its forms", async ({ users }) => {
    const ids: number[] = [];
    for (const email of ["new@xn--bcher-kva.example", "old@bücher.example"])
      ids.push((await users.create({ email, username: email, hashedPassword: "salt$digest" })).id);
    for (const domain of ["bücher.example", "xn--bcher-kva.example"])
      expect((await users.list({ after: 0, limit: 10, domain })).map(({ id }) => id)).toEqual(ids);
  });
}
