/** The networks of users on all databases: how many are kept, and which changes of the user delete them. */
import { expect } from "bun:test";
import { DatabaseUnavailable, UserAlreadyExists } from "../../src/index.ts";
import { ada, bob, errorOf, type Test, type TestDatabase, waitUntilAfter } from "./test-database.ts";

export function networkConformance(test: Test): void {
  test("a user is found with the time at which a network was last stored", async ({ users, query }) => {
    const [first, second] = [await users.create(ada), await users.create(bob)];
    const seenAt = async (email: string, network: string) =>
      (await users.findByEmail(email, network))?.networkSeenAt;
    const ageMs = async (email: string) => Date.now() - Date.parse((await seenAt(email, "one")) ?? "");
    await users.storeNetwork(first.id, "one");
    expect(await ageMs(ada.email)).toBeWithin(-1_000, 5_000);
    expect(await seenAt(ada.email, "two")).toBeNull();
    expect(await seenAt(bob.email, "one")).toBeNull();
    for (const network of ["one", "two"])
      expect(await users.findWithNetwork(first.id, network)).toEqual(
        await users.findByEmail(ada.email, network),
      );
    expect(await users.findWithNetwork(-1, "one")).toBeNull();
    await query("update user_networks set last_seen_at = '2026-01-02T03:04:05.678Z'");
    expect(await seenAt(ada.email, "one")).toBe("2026-01-02T03:04:05.678Z");
    await Promise.all([users.storeNetwork(first.id, "one"), users.storeNetwork(second.id, "one")]);
    expect(await ageMs(ada.email)).toBeWithin(-1_000, 5_000);
    expect(await ageMs(bob.email)).toBeWithin(-1_000, 5_000);
  });

  test("of more than 20 networks of one user, those stored longest ago are deleted", async (testDatabase) => {
    const { users, query } = testDatabase;
    const [first, second] = [await users.create(ada), await users.create(bob)];
    await users.storeNetwork(second.id, "other");
    for (let day = 0; day < 22; day++)
      await query(
        `insert into user_networks values (${first.id}, 'day ${day}', '2026-01-${day + 10}T00:00:00.000Z')`,
      );
    const digests = () => digestsOf(testDatabase, "last_seen_at");
    const days = (from: number) => Array.from({ length: 22 - from }, (_, index) => `day ${from + index}`);
    await users.storeNetwork(first.id, "new");
    expect(await digests()).toEqual([...days(3), "other", "new"]);
    expect((await users.listNetworkTimes(first.id)).slice(1, 3)).toEqual([
      "2026-01-31T00:00:00.000Z",
      "2026-01-30T00:00:00.000Z",
    ]);
    await waitUntilAfter(new Date().toISOString());
    // A network that is already stored replaces no other.
    await users.storeNetwork(first.id, "day 5");
    expect(await digests()).toEqual([...days(3).filter((day) => day !== "day 5"), "other", "new", "day 5"]);
  });

  test("of networks stored over two connections at once, 20 remain", async ({ database, query, reopen }) => {
    await using second = await reopen();
    const { id } = await database.users.create(ada);
    const storeTogether = (count: number, round: number) =>
      Promise.all(
        [database, second].flatMap(({ users }, replica) =>
          Array.from({ length: count / 2 }, (_, index) =>
            users.storeNetwork(id, `${replica}.${index}.${round}`),
          ),
        ),
      );
    await storeTogether(20, 0);
    for (let round = 1; round <= 20; round++) {
      await storeTogether(4, round);
      const [row] = await query<{ count: number }>("select count(*) as count from user_networks");
      expect(Number(row?.count)).toBe(20);
    }
  });

  test("a user is created together with a network, or not at all", async (testDatabase) => {
    const { users } = testDatabase;
    const created = await users.create({ ...ada, networkDigest: "one" });
    expect(await users.findById(created.id)).toEqual(created);
    const taken = users.create({ ...ada, networkDigest: "two" });
    expect(await errorOf(taken)).toBeInstanceOf(UserAlreadyExists);
    expect(await digestsOf(testDatabase)).toEqual(["one"]);
    await testDatabase.query("alter table user_networks rename to gone");
    const failed = users.create({ ...bob, networkDigest: "one" });
    expect(await errorOf(failed)).toBeInstanceOf(DatabaseUnavailable);
    expect(await users.list({ after: 0, limit: 2 })).toEqual([created]);
  });

  test("a network of a user who was deleted or got another token version meanwhile is not stored", async (testDatabase) => {
    const { users } = testDatabase;
    const [first, second] = [await users.create({ ...ada, networkDigest: "one" }), await users.create(bob)];
    await users.delete(first.id);
    await users.storeNetwork(first.id, "one");
    await users.update(second.id, { hashedPassword: "other$digest" });
    await users.storeNetwork(second.id, "one", second.tokenVersion);
    expect(await digestsOf(testDatabase)).toEqual([]);
    await users.storeNetwork(second.id, "two", second.tokenVersion + 1);
    expect(await digestsOf(testDatabase)).toEqual(["two"]);
  });

  test("a new hash deletes the user's networks except the given one, and stores a new one; no other change deletes any", async (testDatabase) => {
    const { users } = testDatabase;
    const [first, second] = [await users.create(ada), await users.create(bob)];
    for (const digest of ["one", "two", "three"]) await users.storeNetwork(first.id, digest);
    await users.storeNetwork(second.id, "other");
    await users.update(first.id, { username: "countess", keptNetworkDigest: "one" });
    await users.changeAsOperator(first.id, { isActive: true });
    await users.revokeTokens(first.id);
    const hashedPassword = "new$digest";
    await users.update(first.id, { hashedPassword }, { version: 0, exceptToken: null });
    await users.update(first.id, { hashedPassword, username: bob.username }).catch(() => null);
    expect(await digestsOf(testDatabase)).toEqual(["one", "other", "three", "two"]);
    await users.update(first.id, { hashedPassword, keptNetworkDigest: "one" });
    expect(await digestsOf(testDatabase)).toEqual(["one", "other"]);
    await users.update(first.id, { hashedPassword, keptNetworkDigest: "elsewhere" });
    expect(await digestsOf(testDatabase)).toEqual(["other"]);
    await users.update(second.id, { hashedPassword, networkDigest: "new" });
    expect(await digestsOf(testDatabase)).toEqual(["new"]);
  });
}

async function digestsOf({ query }: TestDatabase, order = "network_digest"): Promise<string[]> {
  const sql = `select network_digest from user_networks order by ${order}`;
  return (await query<{ network_digest: string }>(sql)).map(({ network_digest }) => network_digest);
}
