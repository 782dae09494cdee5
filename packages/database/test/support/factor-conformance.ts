/** Second factors on all databases: what stores, uses, counts and ends them. */
import { expect } from "bun:test";
import type { Database, User } from "../../src/index.ts";
import { ada, bob, type Test, type TestDatabase } from "./test-database.ts";

const tokenOf = ({ tokenVersion }: User) => ({ version: tokenVersion, exceptToken: null });
const factorOf = (id: string, keyId = "k1") => ({
  ...{ id, keyId, secret: `secret of ${id}`, lastStep: 10 },
  recoveryCodes: '["one","two"]',
});
const SILENT = { notifies: false };

const createUser = async ({ users }: Pick<Database, "users">, of = ada) =>
  users.create({ ...of, emailVerified: true });
const readUser = async ({ users }: Pick<Database, "users">, { id }: Pick<User, "id">) => {
  const user = await users.findById(id);
  if (!user) throw new Error(`No user ${id}`);
  return user;
};

/** The oldest releases that can run on the migrated schema. */
const oldestReleases = async ({ query }: TestDatabase) => {
  const rows = await query<{ oldest_release: string }>(
    "select distinct oldest_release from __latchkey_migrations where oldest_release is not null order by oldest_release",
  );
  return rows.map((row) => row.oldest_release);
};

export function factorConformance(test: Test): void {
  test("the first second factor keeps releases that do not ask for it from starting, until all are removed", async (database) => {
    const { factors } = database;
    const before = await oldestReleases(database);
    const [first, second] = [await createUser(database), await createUser(database, bob)];
    for (const user of [first, second]) {
      const options = { ...SILENT, replaced: null };
      expect(await factors.create(factorOf(user.email), user, tokenOf(user), options)).not.toBeNull();
    }
    expect(await oldestReleases(database)).toEqual([...before, "2.1.0-0"]);
    const removed = await factors.delete(first.id, SILENT);
    expect(removed).toMatchObject({ factorId: null, tokenVersion: 2 });
    expect(await oldestReleases(database)).toContain("2.1.0-0");
    expect(await factors.deleteAll()).toBe(1);
    expect(await oldestReleases(database)).toEqual(before);
    expect(await readUser(database, second)).toMatchObject({ factorId: null, tokenVersion: 2 });
    expect(await factors.find(second.id)).toBeNull();
  });

  test("a step and a recovery code are used once over all replicas, and never an earlier step", async (database) => {
    const { factors, reopen } = database;
    const user = await createUser(database);
    await factors.create(factorOf("one"), user, tokenOf(user), { ...SILENT, replaced: null });
    const owner = { userId: user.id, id: "one" };
    await using replica = await reopen();
    const accept = [factors, replica.factors, factors].map((one) => one.acceptStep(owner, 11));
    expect((await Promise.all(accept)).filter(Boolean)).toHaveLength(1);
    for (const step of [10, 11]) expect(await factors.acceptStep(owner, step)).toBe(false);
    expect(await factors.acceptStep({ ...owner, id: "another" }, 12)).toBe(false);
    const use = [factors, replica.factors].map((one) => one.useRecoveryCode(owner, "one", SILENT));
    expect((await Promise.all(use)).sort()).toEqual([1, null]);
  });

  test("a failure counts for the pause until it is over, unless its time is in the future", async ({
    factors,
    users,
    query,
  }) => {
    const user = await createUser({ users });
    await factors.create(factorOf("one"), user, tokenOf(user), { ...SILENT, replaced: null });
    const pauseAfter = async (seconds: number) => {
      const time = new Date(Date.now() + seconds * 1000).toISOString();
      await query(`update factors set failures = 5, failed_at = '${time}'`);
      return factors.pauseSeconds(user.id);
    };
    expect(await pauseAfter(-20)).toBeWithin(1, 41);
    for (const seconds of [-61, 3600]) expect(await pauseAfter(seconds)).toBe(0);
  });

  test("a replacement is conditional on the present factor and token version, and ends all tokens", async (database) => {
    const { factors } = database;
    const user = await createUser(database);
    const create = (id: string, of: User, replaced: string | null) =>
      factors.create(factorOf(id), of, tokenOf(of), { notifies: true, replaced });
    const both = await Promise.all([create("one", user, null), create("two", user, null)]);
    expect(both.filter((created) => created !== null)).toHaveLength(1);
    const enrolled = await readUser(database, user);
    expect(enrolled.tokenVersion).toBe(1);
    expect(await create("three", enrolled, null)).toBeNull();
    expect(await create("three", user, enrolled.factorId)).toBeNull();
    expect(await create("three", enrolled, enrolled.factorId)).toMatchObject({ factorId: "three" });
    expect(await database.query("select kind from outbox")).toEqual([{ kind: "factor" }, { kind: "factor" }]);
  });

  test("keys are listed, and a secret is encrypted anew only if nobody else has changed it", async (database) => {
    const { factors } = database;
    for (const [of, keyId] of [
      [ada, "old"],
      [bob, "new"],
    ] as const) {
      const user = await createUser(database, of);
      await factors.create(factorOf(keyId, keyId), user, tokenOf(user), { ...SILENT, replaced: null });
    }
    expect(await factors.listKeyIds()).toEqual(["new", "old"]);
    const [old] = await factors.listOfOtherKeys("new", { after: 0, limit: 10 });
    if (!old) throw new Error("No factor has the old key");
    await factors.rekey({ ...old, keyId: "older" }, { secret: "lost", keyId: "new" });
    expect(await factors.find(old.userId)).toEqual(old);
    await factors.rekey(old, { secret: "again", keyId: "new" });
    expect(await factors.listKeyIds()).toEqual(["new"]);
  });

  test("a reset and a takeover end only a factor of an unverified e-mail; another e-mail by an operator ends any", async (database) => {
    const { factors, users } = database;
    const user = await createUser(database);
    await factors.create(factorOf("one"), user, tokenOf(user), { ...SILENT, replaced: null });
    const reset = async () =>
      users.update(user.id, { hashedPassword: "salt$digest", endsUnverifiedFactor: true });
    expect(await reset()).toMatchObject({ factorId: "one" });
    await users.update(user.id, { emailVerified: false });
    const unverified = await readUser(database, user);
    const takeOver = async (of: User) =>
      users.takeOver(of, { hash: of.hashedPassword }, { hashedPassword: "a$b", importedHash: "none" });
    expect(await factors.protects(unverified)).toBe(true);
    expect(await takeOver(unverified)).toBeNull();
    await database.query("update factors set was_verified = false");
    expect(await factors.protects(unverified)).toBe(false);
    expect(await takeOver(unverified)).toMatchObject({ factorId: null });
    const again = await readUser(database, user);
    await factors.create(factorOf("two"), again, tokenOf(again), { ...SILENT, replaced: null });
    const changed = await users.changeAsOperator(user.id, { email: "other@example.org" });
    expect(changed?.user.factorId).toBeNull();
    expect(await factors.find(user.id)).toBeNull();
  });
}
