/** Imported users on all databases: how they are created, found and listed, and how their hash is replaced. */
import { describe, expect } from "bun:test";
import { ada, bob, createTest, type TestDatabase, waitUntilAfter } from "./test-database.ts";

const eve = {
  email: "eve@example.org",
  username: "eve",
  hashedPassword: "salt$digest",
  importedHash: "$2b$",
};

export function importConformance(name: string, open: () => Promise<TestDatabase>): void {
  const test = createTest(open);

  describe(`imported users on ${name}`, () => {
    test("an import creates users with the given values and the defaults of others, except taken ones", async (testDatabase) => {
      const { users } = testDatabase;
      const existing = await users.create(bob);
      const createdAt = "2020-01-02T03:04:05.678Z";
      const created = await users.import([
        { ...eve, isActive: false, createdAt },
        { ...ada, importedHash: null, isActive: undefined, createdAt: undefined },
        { ...eve, email: "eve2@example.org", username: bob.username },
        { ...eve, email: bob.email, username: "other" },
      ]);
      expect(created.toSorted()).toEqual([ada.email, eve.email]);
      expect(await users.findByEmail(eve.email)).toMatchObject({ ...eve, isActive: false, createdAt });
      expect(await users.findByEmail(ada.email)).toMatchObject({
        ...ada,
        importedHash: null,
        isActive: true,
      });
      expect(await users.findById(existing.id)).toEqual(existing);
      const found = await users.findTaken({
        emails: [bob.email, "nobody@example.org"],
        usernames: [bob.username, eve.username],
      });
      expect(found.map(({ email }) => email).toSorted()).toEqual([bob.email, eve.email]);
      expect(await users.findTaken({ emails: [], usernames: [] })).toEqual([]);
    });

    test("only users with an imported hash are listed as imported", async ({ users }) => {
      await users.import([eve, { ...ada, importedHash: null }, { ...bob, importedHash: "$argon2id$" }]);
      const first = await users.list({ after: 0, limit: 1, isImported: true });
      const second = await users.list({ after: first[0]?.id ?? 0, limit: 5, isImported: true });
      expect([...first, ...second].map(({ email }) => email)).toEqual([eve.email, bob.email]);
    });

    test("a rehash requires both old hashes and changes nothing else; a new password removes the imported hash", async (testDatabase) => {
      const { users, query } = testDatabase;
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
      expect(changed).toMatchObject({ importedHash: null, tokenVersion: 1 });
    });

    test("a change that requires an imported hash also happens after a rehash, but not after a new password", async (testDatabase) => {
      const { users } = testDatabase;
      await users.import([eve]);
      const user = await users.findByEmail(eve.email);
      if (!user) throw new Error("The user does not exist");
      const { id, hashedPassword } = user;
      const token = { version: 0, tokenId: null, hashedPassword };
      const condition = { ...token, importedVersion: 0 };
      const rename = (given: typeof token) => users.update(id, { username: crypto.randomUUID() }, given);
      expect(await rename(condition)).not.toBeNull();
      await users.rehash(user, "new$hash");
      expect(await rename(token)).toBeNull();
      expect(await rename(condition)).not.toBeNull();
      await users.update(id, { hashedPassword: "changed$hash" });
      expect(await rename({ ...condition, version: 1 })).toBeNull();
    });
  });
}
