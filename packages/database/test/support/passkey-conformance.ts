/** Passkeys on all databases: what adds and removes them, and that each statement logs in once. */
import { expect } from "bun:test";
import type { Database } from "../../src/index.ts";
import { ada, bob, errorOf, type Test, type TestDatabase } from "./test-database.ts";

const NOW = 1_800_000_000_000;
/** What a new user allows. */
const NEW = { version: 0, exceptToken: null, tokenVersion: 0, revision: 0 };

/** What a user allows who got other passkeys. */
async function stateOf({ users }: Pick<Database, "users">, id: number) {
  return { ...NEW, revision: (await users.findById(id))?.passkeyRevision ?? 0 };
}

const CAN_LOG_IN = { canLogIn: () => true };
const [SILENT, LOUD] = [
  { ...CAN_LOG_IN, notifies: false },
  { ...CAN_LOG_IN, notifies: true },
];

const mailsOf = ({ query }: TestDatabase) => query("select kind from outbox");

const passkeyOf = (userId: number, id = "one") => ({
  id,
  userId,
  publicKey: "key",
  counter: 0,
  name: "Phone",
});

export function passkeyConformance(test: Test): void {
  test("a passkey is found with its user, listed, and deleted with the user", async ({ users, passkeys }) => {
    const [first, second] = [await users.create(ada), await users.create(bob)];
    const created = await passkeys.create({ ...passkeyOf(first.id), counter: 4_294_967_295 }, NEW, SILENT);
    expect(created).toMatchObject({ id: "one", counter: 4_294_967_295, lastUsedAt: null });
    const handles = ["a", "b"].map((candidate) => passkeys.chooseUserHandle(first.id, candidate));
    const [userHandle = null] = await Promise.all(handles);
    expect(await passkeys.chooseUserHandle(first.id, "c")).toBe(userHandle);
    expect<unknown>(await passkeys.findById("one")).toEqual({
      ...created,
      email: ada.email,
      tokenVersion: 0,
      userHandle,
    });
    expect(await passkeys.findById("two")).toBeNull();
    expect<unknown>([await passkeys.list(first.id), await passkeys.list(second.id)]).toEqual([[created], []]);
    await users.delete(first.id);
    expect(await passkeys.findById("one")).toBeNull();
    expect(await passkeys.chooseUserHandle(first.id, "c")).toBeNull();
  });

  test("a passkey is added only for the user's state, once per revision, up to ten, and with a new id", async (testDatabase) => {
    const { users, passkeys, reopen } = testDatabase;
    await using other = await reopen();
    const { id } = await users.create(ada);
    const isAdded = async (condition: object, passkey = passkeyOf(id)) =>
      (await passkeys.create(passkey, { ...NEW, ...condition }, SILENT)) !== null;
    for (const condition of [{ revision: 1 }, { tokenVersion: 1 }, { version: 1 }])
      expect(await isAdded(condition)).toBe(false);
    await users.changeAsOperator(id, { isActive: false });
    expect(await isAdded({})).toBe(false);
    await users.changeAsOperator(id, { isActive: true });
    const version = (await users.findById(id))?.tokenVersion ?? 0;
    const current = { version, tokenVersion: version };
    const parallel = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? other.passkeys : passkeys).create(
        passkeyOf(id, `${index}`),
        { ...NEW, ...current },
        LOUD,
      ),
    );
    expect((await Promise.all(parallel)).filter(Boolean)).toHaveLength(1);
    expect(await mailsOf(testDatabase)).toEqual([{ kind: "passkey" }]);
    const [taken] = await passkeys.list(id);
    expect(await isAdded({ ...current, revision: 1 }, passkeyOf(id, taken?.id))).toBe(false);
    for (let count = 2; count <= 10; count++)
      expect(await isAdded({ ...current, revision: count }, passkeyOf(id, `${count}th`))).toBe(true);
    expect(await isAdded({ ...current, revision: 11 }, passkeyOf(id, "eleventh"))).toBe(false);
    await other.passkeys.delete("10th", id, { version, exceptToken: null }, SILENT);
    expect(await isAdded({ ...current, revision: 11 }, passkeyOf(id, "tenth"))).toBe(false);
    expect(await isAdded({ ...current, revision: 12 }, passkeyOf(id, "tenth"))).toBe(true);
  });

  test("a statement logs in once, also over two connections, and eight are remembered until none can be used again", async (testDatabase) => {
    const { users, passkeys, reopen } = testDatabase;
    await using other = await reopen();
    const { id } = await users.create(ada);
    await passkeys.create(passkeyOf(id), NEW, SILENT);
    const attempt = (
      digest: string,
      { expiresAt = NOW, forgetBefore = NOW, counter = 0, via = passkeys } = {},
    ) => via.use({ id: "one", counter, digest, expiresAt, forgetBefore });
    const use = async (...given: Parameters<typeof attempt>) =>
      (await attempt(...given)).result === "accepted";
    const parallel = Array.from({ length: 20 }, (_, index) =>
      use("first", { via: index % 2 === 0 ? passkeys : other.passkeys }),
    );
    expect((await Promise.all(parallel)).filter(Boolean)).toHaveLength(1);
    expect((await passkeys.findById("one"))?.lastUsedAt).not.toBeNull();
    // Issued earlier than the first one, by a clock that is two seconds behind.
    expect(await use("second", { expiresAt: NOW - 2_000, forgetBefore: NOW - 10_000 })).toBe(true);
    for (let count = 3; count <= 8; count++)
      expect(await use(`${count}`, { forgetBefore: NOW - 10_000 })).toBe(true);
    const busy = { result: "busy", freeAt: NOW - 2_000 };
    expect<unknown>(await attempt("ninth", { forgetBefore: NOW - 2_000 })).toEqual(busy);
    expect<unknown>(await attempt("second", { forgetBefore: NOW - 2_000 })).toEqual({ result: "used" });
    expect(await use("ninth", { forgetBefore: NOW - 1_999 })).toBe(true);
    expect((await passkeys.findById("one"))?.usedStatements).not.toContain("second");
    expect(await use("tenth", { forgetBefore: NOW + 1 })).toBe(true);
    expect(Object.keys(JSON.parse((await passkeys.findById("one"))?.usedStatements ?? ""))).toEqual([
      "tenth",
    ]);
    await passkeys.deleteAll(id, SILENT);
    expect<unknown>(await attempt("eleventh")).toEqual({ result: "credential" });
  });

  test("a counter must grow unless it stays 0", async ({ users, passkeys }) => {
    const { id } = await users.create(ada);
    await passkeys.create(passkeyOf(id), NEW, SILENT);
    let count = 0;
    const use = async (counter: number) =>
      (await passkeys.use({ id: "one", counter, digest: `${count++}`, expiresAt: NOW, forgetBefore: NOW }))
        .result;
    const results: string[] = [];
    for (const counter of [0, 0, 1, 1, 0, 4_294_967_295, 2]) results.push(await use(counter));
    const [accepted, rejected] = ["accepted", "counter"];
    expect(results).toEqual([accepted, accepted, accepted, rejected, rejected, accepted, rejected]);
  });

  test("a statement logs in once also with a passkey that counts, which is busy after eight, and can use statements in any order", async (testDatabase) => {
    const { users, passkeys, reopen } = testDatabase;
    await using other = await reopen();
    const { id } = await users.create(ada);
    for (const one of ["one", "two"])
      await passkeys.create(passkeyOf(id, one), await stateOf(testDatabase, id), SILENT);
    const attempt = (
      counter: number,
      digest: string,
      { passkey = "one", expiresAt = NOW, forgetBefore = NOW - 10_000, via = passkeys } = {},
    ) => via.use({ id: passkey, counter, digest, expiresAt, forgetBefore });
    const use = async (...given: Parameters<typeof attempt>) => (await attempt(...given)).result;
    // The authenticator has signed the same challenge 40 times.
    const parallel = Array.from({ length: 40 }, (_, index) =>
      use(index + 1, "first", { via: index % 2 === 0 ? passkeys : other.passkeys }),
    );
    const results = await Promise.all(parallel);
    expect(results.filter((result) => result === "accepted")).toHaveLength(1);
    expect(results.filter((result) => result === "used")).toHaveLength(39);
    expect(await use(41, "first")).toBe("used");
    // Issued earlier than the first one, by a clock that is two seconds behind.
    expect(await use(41, "second", { expiresAt: NOW - 2_000 })).toBe("accepted");
    expect(await use(41, "third")).toBe("counter");
    for (let count = 3; count <= 8; count++) expect(await use(count + 40, `${count}`)).toBe("accepted");
    const busy = { result: "busy", freeAt: NOW - 2_000 };
    expect<unknown>(await attempt(49, "ninth", { forgetBefore: NOW - 2_000 })).toEqual(busy);
    expect(await use(49, "ninth", { passkey: "two" })).toBe("accepted");
    expect(await use(49, "ninth", { forgetBefore: NOW - 1_999 })).toBe("accepted");
    expect(await use(50, "tenth", { forgetBefore: NOW + 1 })).toBe("accepted");
    expect(JSON.parse((await passkeys.findById("one"))?.usedStatements ?? "")).toEqual({ tenth: `${NOW}` });
  });

  test("a passkey is removed only by its own user with a valid token, and each removal changes the revision", async (testDatabase) => {
    const { users, passkeys } = testDatabase;
    const [first, second] = [await users.create(ada), await users.create(bob)];
    await passkeys.create(passkeyOf(first.id), NEW, SILENT);
    const token = { version: 0, exceptToken: null };
    expect(await passkeys.delete("one", second.id, token, SILENT)).toBe(false);
    expect(await passkeys.delete("one", first.id, { ...token, version: 1 }, SILENT)).toBe(false);
    expect(await passkeys.delete("none", first.id, token, LOUD)).toBe(false);
    expect(await passkeys.list(first.id)).toHaveLength(1);
    expect(await passkeys.delete("one", first.id, token, LOUD)).toBe(true);
    expect(await passkeys.delete("one", first.id, token, LOUD)).toBe(false);
    expect(await mailsOf(testDatabase)).toHaveLength(1);
    // Without passkeys, there is nothing of which the user could be notified.
    expect((await passkeys.deleteAll(first.id, LOUD))?.passkeyRevision).toBe(3);
    expect(await passkeys.deleteAll(first.id + second.id, LOUD)).toBeNull();
    expect(await mailsOf(testDatabase)).toHaveLength(1);
    await passkeys.create(passkeyOf(second.id), NEW, SILENT);
    await passkeys.deleteAll(second.id, LOUD);
    expect([await passkeys.list(second.id), (await mailsOf(testDatabase)).length]).toEqual([[], 2]);
    expect((await users.findById(second.id))?.passkeyRevision).toBe(2);
  });

  test("a new e-mail deletes the passkeys of the user, and a new hash unless it keeps them; no other change does", async ({
    users,
    passkeys,
  }) => {
    const [first, second] = [await users.create(ada), await users.create(bob)];
    await passkeys.create(passkeyOf(first.id), NEW, SILENT);
    await passkeys.create(passkeyOf(second.id, "two"), NEW, SILENT);
    const hashedPassword = "new$digest";
    await users.update(first.id, { hashedPassword, keepsPasskeys: true });
    await users.update(first.id, { username: "countess", emailVerified: true });
    await users.revokeTokens(first.id);
    const failed = users.update(first.id, { hashedPassword, username: bob.username });
    expect(await errorOf(failed)).toBeInstanceOf(Error);
    expect(await passkeys.list(first.id)).toHaveLength(1);
    const reset = await users.update(first.id, { hashedPassword });
    expect(await passkeys.list(first.id)).toEqual([]);
    expect(reset?.passkeyRevision).toBe(2);
    expect(await passkeys.list(second.id)).toHaveLength(1);
    const renamed = await users.changeAsOperator(second.id, { email: "new@example.org" });
    expect(await passkeys.list(second.id)).toEqual([]);
    expect(renamed?.user.passkeyRevision).toBe(2);
  });
}
