/** Imported users on all databases: how they are created, found and listed, and how their hash is replaced. */
import { expect } from "bun:test";
import { type Guard, isImported } from "../../src/index.ts";
import { ada, bob, type Test, waitUntilAfter } from "./test-database.ts";

const eve = {
  email: "eve@example.org",
  username: "eve",
  hashedPassword: "salt$digest",
  importedHash: "$2b$",
};

export function importConformance(test: Test): void {
  test("an import creates users with the given values, except taken ones; those with an imported hash are listed", async ({
    users,
  }) => {
    const existing = await users.create(bob);
    const createdAt = "2020-01-02T03:04:05.678Z";
    const created = await users.import([
      { ...eve, isActive: false, createdAt },
      { ...ada, importedHash: null, isActive: undefined, createdAt: undefined },
      { ...eve, email: "eve2@example.org", username: bob.username },
      { ...eve, email: bob.email, username: "other" },
    ]);
    expect(created.map(({ email }) => email).toSorted()).toEqual([ada.email, eve.email]);
    expect(await users.list({ after: 0, limit: 5, isImported: true })).toMatchObject([eve]);
    expect(await users.findByEmail(eve.email)).toMatchObject({ ...eve, isActive: false, createdAt });
    const defaults = { importedHash: null, isActive: true };
    expect(await users.findByEmail(ada.email)).toMatchObject({ ...ada, ...defaults });
    expect(await users.findById(existing.id)).toEqual(existing);
    const emails = [bob.email, "nobody@example.org"];
    const found = await users.findTaken({ emails, usernames: [bob.username, eve.username] });
    expect(found.map(({ email }) => email).toSorted()).toEqual([bob.email, eve.email]);
    expect(await users.findTaken({ emails: [], usernames: [] })).toEqual([]);
  });

  test("a rehash requires both old hashes and changes nothing else", async ({ users, query }) => {
    await users.import([eve]);
    const before = await users.findByEmail(eve.email);
    if (!before) throw new Error("The user does not exist");
    await users.storeNetwork(before.id, "network");
    await waitUntilAfter(before.updatedAt);
    expect(await users.rehash({ ...before, hashedPassword: "other" }, "new$hash")).toBe(false);
    expect(await users.rehash({ ...before, importedHash: "other" }, "new$hash")).toBe(false);
    expect(await users.rehash({ ...before, importedHash: null }, "new$hash")).toBe(false);
    const both = [users.rehash(before, "new$hash"), users.rehash(before, "second$hash")];
    expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
    const after = await users.findByEmail(eve.email, "network");
    expect(after).toEqual({
      ...before,
      hashedPassword: expect.stringMatching(/^(new|second)\$hash$/),
      importedHash: null,
      networkSeenAt: expect.any(String),
    });
    await query("update users set imported_hash = '$2b$'");
    const changed = await users.update(before.id, { hashedPassword: "changed$hash" });
    expect(changed).toMatchObject({ importedHash: null, importedAt: before.importedAt });
    expect(changed?.tokenVersion).toBe(before.tokenVersion + 1);
  });

  test("a change bound to an imported hash also happens after a rehash", async ({ users }) => {
    await users.import([eve]);
    const user = await users.findByEmail(eve.email);
    if (!user) throw new Error("The user does not exist");
    const { id, hashedPassword, tokenVersion: version } = user;
    const token = { version, exceptToken: null, password: { hash: hashedPassword } };
    const condition = { ...token, password: { hash: hashedPassword, importedVersion: version } };
    const rename = (given: Guard) => users.update(id, { username: crypto.randomUUID() }, given);
    expect(await rename(condition)).not.toBeNull();
    await users.rehash(user, "new$hash");
    expect(await rename(token)).toBeNull();
    expect(await rename(condition)).not.toBeNull();
    await users.update(id, { hashedPassword: "changed$hash" });
    expect(await rename({ ...condition, version: version + 1 })).toBeNull();
  });

  test("no token of another database is valid for an imported user", async ({ users }) => {
    const registered = await users.create(bob);
    await users.import([eve, { ...ada, importedHash: null }]);
    const imported = await users.list({ after: registered.id, limit: 5 });
    const versions = imported.map(({ tokenVersion }) => tokenVersion);
    expect(new Set([0, ...versions]).size).toBe(3);
    for (const version of versions) expect(version).toBeWithin(1, 2 ** 30);
    expect(imported.map((user) => [isImported(user), user.importedAt])).toEqual(
      imported.map(() => [true, expect.any(String)]),
    );
    expect([isImported(registered), registered.importedAt]).toEqual([false, null]);
    await users.markImported([registered.id]);
    expect((await users.findById(registered.id))?.importedAt).toEqual(expect.any(String));
  });

  test("ids continue after those of another database, and are never lowered", async ({ users }) => {
    expect(await users.findLastId()).toBe(0);
    await users.raiseLastId(1);
    const first = await users.create(ada);
    expect(first.id).toBe(2);
    await Promise.all([users.raiseLastId(40), users.raiseLastId(30)]);
    const second = await users.create(bob);
    await users.deleteAll([first.id, second.id]);
    await users.raiseLastId(7);
    const [created] = await users.import([eve]);
    expect([second.id, created?.id]).toEqual([41, 42]);
    expect(await users.findLastId()).toBe(created?.id ?? 0);
  });

  test("a user who deleted the account is not imported for 90 days, whether imported or registered before", async ({
    users,
    query,
  }) => {
    const [one] = await users.import([eve]);
    await users.create(bob);
    const remove = async (email: string, isOwner = true) => {
      const user = await users.findByEmail(email);
      const token = { version: user?.tokenVersion ?? 0, exceptToken: null };
      expect(await users.delete(user?.id ?? 0, isOwner ? token : undefined)).toBe(true);
    };
    const token = { version: 0, exceptToken: null };
    expect(await users.delete(one?.id ?? 0, token)).toBe(false);
    expect(await users.findDeleted([eve.email])).toEqual([]);
    await remove(bob.email);
    await remove(eve.email);
    const given = [bob.email, eve.email, ada.email];
    expect((await users.findDeleted(given)).toSorted()).toEqual([bob.email, eve.email]);
    expect(await users.import([eve, { ...bob, importedHash: null }])).toEqual([]);
    const rows = await query<object>("select * from deleted_imports");
    expect([rows.length, JSON.stringify(rows)]).toEqual([2, expect.not.stringContaining("eve")]);
    const created = await users.import([{ ...ada, importedHash: null }]);
    expect(created.map(({ email }) => email)).toEqual([ada.email]);
    // The operator's deletion is not remembered.
    await remove(ada.email, false);
    expect(await users.findDeleted([ada.email])).toEqual([]);
    await query("update deleted_imports set deleted_at = '2020-01-01T00:00:00.000Z'");
    // A check does not clean up. The next import does.
    expect(await users.findDeleted([eve.email])).toEqual([]);
    expect(await query("select * from deleted_imports")).toHaveLength(2);
    expect(await users.import([eve])).toHaveLength(1);
    expect(await query("select * from deleted_imports")).toEqual([]);
  });

  test("an e-mail that a registered user gave up by a change is not imported", async ({ users }) => {
    const user = await users.create(ada);
    await users.changeAsOperator(user.id, { email: "new@example.org" });
    expect(await users.findDeleted([ada.email, "new@example.org"])).toEqual([ada.email]);
    expect(await users.import([{ ...ada, username: "other", importedHash: null }])).toEqual([]);
  });
}
