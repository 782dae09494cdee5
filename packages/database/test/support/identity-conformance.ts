/** Identities and login codes on all databases: who gets them, what a takeover ends, and that a code works once. */
import { expect } from "bun:test";
import { IdentityAlreadyUsed, LastLogin, TooManyIdentities, type User } from "../../src/index.ts";
import { ada, bob, errorOf, networksOf, type Test, type TestDatabase } from "./test-database.ts";

const GOOGLE = { issuer: "https://accounts.example.com", subject: "1", provider: "google" };
const OTHER = { ...GOOGLE, issuer: "https://login.example.org", provider: "other" };
const NONE = { hashedPassword: "none$digest", importedHash: "none" };
const CAN_LOG_IN = { canLogIn: () => true };
const LOUD = { notifies: true, isUsed: false };

const kindsOf = async ({ query }: TestDatabase) =>
  (await query<{ kind: string }>("select kind from outbox order by id")).map(({ kind }) => kind);

const tokenOf = ({ tokenVersion }: User) => ({ version: tokenVersion, exceptToken: null });

export function identityConformance(test: Test): void {
  test("an identity belongs to one user, and is added only for the user's state", async (testDatabase) => {
    const { users, identities } = testDatabase;
    const [first, second] = [await users.create(ada), await users.create(bob)];
    const token = { version: 0, exceptToken: null, password: { hash: ada.hashedPassword } };
    for (const condition of [
      { version: 1 },
      { password: { hash: "other$digest" } },
      { verifiedEmail: ada.email },
    ])
      expect(await identities.add(first.id, GOOGLE, { ...token, ...condition }, LOUD)).toBeNull();
    const added = await identities.add(first.id, GOOGLE, token, LOUD);
    expect(added).toMatchObject({ ...GOOGLE, userId: first.id, lastUsedAt: null });
    expect(await identities.add(first.id, GOOGLE, token, LOUD)).toEqual(added);
    expect(await errorOf(identities.add(second.id, GOOGLE, token, LOUD))).toBeInstanceOf(IdentityAlreadyUsed);
    // The same subject of another issuer is somebody else.
    expect(await identities.add(second.id, OTHER, token, { ...LOUD, notifies: false })).not.toBeNull();
    expect(await identities.find(GOOGLE)).toEqual(added);
    expect(await identities.find({ ...GOOGLE, subject: "2" })).toBeNull();
    expect(await identities.use({ id: added?.id ?? 0, userId: first.id, provider: "renamed" })).toBe(true);
    expect(await identities.list(first.id)).toMatchObject([
      { provider: "renamed", lastUsedAt: expect.any(String) },
    ]);
    expect(await kindsOf(testDatabase)).toEqual(["identity"]);
    await users.delete(first.id);
    expect(await identities.find(GOOGLE)).toBeNull();
  });

  test("a user has at most ten identities, also after parallel additions", async ({ users, identities }) => {
    const user = await users.create(ada, { ...GOOGLE, subject: "0" });
    const add = (subject: number) =>
      errorOf(
        identities.add(user.id, { ...GOOGLE, subject: `${subject}` }, tokenOf(user), {
          ...LOUD,
          notifies: false,
        }),
      );
    const results = await Promise.all(Array.from({ length: 12 }, (_, subject) => add(subject)));
    expect(results.filter((error) => error instanceof TooManyIdentities)).toHaveLength(2);
    expect(results.filter((error) => error === null)).toHaveLength(10);
    expect(await identities.list(user.id)).toHaveLength(10);
  });

  test("a user is created with an identity, or not at all", async ({ users, identities }) => {
    const created = await users.create({ ...ada, ...NONE, emailVerified: true }, GOOGLE);
    expect(await identities.list(created.id)).toMatchObject([{ ...GOOGLE, lastUsedAt: expect.any(String) }]);
    expect(await errorOf(users.create(bob, GOOGLE))).toBeInstanceOf(IdentityAlreadyUsed);
    expect(await users.findByEmail(bob.email)).toBeNull();
    const others = { after: 0, limit: 5 };
    expect(await users.list({ ...others, isWithoutPassword: true })).toMatchObject([{ id: created.id }]);
    expect(await users.list({ ...others, isImported: true })).toEqual([]);
  });

  test("the last way to log in is not removed, also by two requests at once", async (testDatabase) => {
    const { users, identities, passkeys, reopen } = testDatabase;
    await using replica = await reopen();
    const user = await users.create({ ...ada, ...NONE }, GOOGLE);
    const second = await identities.add(user.id, OTHER, tokenOf(user), { ...LOUD, notifies: false });
    const [first] = await identities.list(user.id);
    const rule = {
      notifies: false,
      canLogIn: ({ passkeys, issuers }: { passkeys: number; issuers: readonly string[] }) =>
        passkeys + issuers.length > 0,
    };
    const results = await Promise.all([
      errorOf(identities.delete(first?.id ?? 0, user.id, tokenOf(user), rule)),
      errorOf(replica.identities.delete(second?.id ?? 0, user.id, tokenOf(user), rule)),
    ]);
    expect(results.filter((error) => error instanceof LastLogin)).toHaveLength(1);
    const [left, ...others] = await identities.list(user.id);
    expect(others).toEqual([]);
    const passkey = { id: "one", userId: user.id, publicKey: "key", counter: 0, name: "Phone" };
    const condition = { version: 0, exceptToken: null, tokenVersion: 0, revision: 0 };
    await passkeys.create(passkey, condition, { notifies: false });
    const withMail = { ...rule, notifies: true };
    expect(await identities.delete(left?.id ?? 0, user.id, { version: 1, exceptToken: null }, withMail)).toBe(
      false,
    );
    expect(await identities.delete(left?.id ?? 0, user.id, tokenOf(user), withMail)).toBe(true);
    expect(await errorOf(passkeys.delete("one", user.id, tokenOf(user), withMail))).toBeInstanceOf(LastLogin);
    expect(await passkeys.list(user.id)).toHaveLength(1);
    expect(await kindsOf(testDatabase)).toEqual(["identity"]);
  });

  test("a takeover ends every credential of an unverified e-mail, and only of one", async (testDatabase) => {
    const { users, identities, passkeys, outbox, query } = testDatabase;
    const user = await users.create({ ...ada, networkDigest: "attacker" });
    const passkey = { id: "one", userId: user.id, publicKey: "key", counter: 0, name: "Attacker" };
    await passkeys.create(passkey, { ...tokenOf(user), tokenVersion: 0, revision: 0 }, { notifies: false });
    await identities.add(user.id, OTHER, tokenOf(user), { ...LOUD, notifies: false });
    await query("update users set pending_email = 'attacker@example.org'");
    for (const kind of ["reset", "login-code", "invitation"] as const) await outbox.request(kind, user.email);
    const read = (await users.findById(user.id)) ?? user;
    const loud = { notifies: true };
    expect(await identities.takeOver({ ...read, hashedPassword: "a$b" }, GOOGLE, NONE, loud)).toBeNull();
    const taken = await identities.takeOver(read, GOOGLE, NONE, loud);
    expect(taken).toMatchObject({
      ...NONE,
      emailVerified: true,
      pendingEmail: null,
      tokenVersion: 1,
      linkRevision: 1,
    });
    expect(await passkeys.list(user.id)).toEqual([]);
    expect(await identities.list(user.id)).toMatchObject([GOOGLE]);
    expect(await networksOf(users, user.id)).toBe(0);
    expect(await kindsOf(testDatabase)).toEqual(["takeover"]);
    expect(await identities.takeOver(taken ?? user, OTHER, NONE, loud)).toBeNull();
    const inactive = await users.create(bob);
    await users.changeAsOperator(inactive.id, { isActive: false });
    const current = (await users.findById(inactive.id)) ?? inactive;
    expect(await identities.takeOver(current, OTHER, NONE, loud)).toBeNull();
  });

  test("of ten parallel logins with one code, one succeeds", async (testDatabase) => {
    const { users, reopen } = testDatabase;
    await using replica = await reopen();
    const created = await users.create(ada);
    // The first login then takes over the unverified e-mail, once.
    for (const isVerified of [false, true]) {
      const user = (await users.findById(created.id)) ?? created;
      expect(user.emailVerified).toBe(isVerified);
      const hash = { hash: user.hashedPassword };
      expect(await users.useLoginCode(user, { hash: "other$digest" })).toBeNull();
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? users : replica.users).useLoginCode(user, hash),
        ),
      );
      const [used, ...others] = results.filter((result) => result !== null);
      expect(others).toEqual([]);
      const { loginCodeRevision, tokenVersion } = user;
      expect(used).toMatchObject({ loginCodeRevision: loginCodeRevision + 1, tokenVersion });
      const takeOver = (read: User | null | undefined) => users.takeOver(read ?? user, hash, NONE);
      expect(await takeOver(user)).toBeNull();
      const taken = await takeOver(used);
      if (isVerified) expect(taken).toBeNull();
      else expect(taken).toMatchObject({ ...NONE, emailVerified: true, tokenVersion: tokenVersion + 1 });
      expect(await takeOver(used)).toBeNull();
    }
    expect(await kindsOf(testDatabase)).toEqual(["takeover"]);
  });

  test("a new hash or e-mail deletes the identities, unless the change keeps them", async (testDatabase) => {
    const { users, identities } = testDatabase;
    const user = await users.create(ada, GOOGLE);
    await users.update(user.id, { hashedPassword: "b$b", keepsPasskeys: true });
    expect(await identities.list(user.id)).toHaveLength(1);
    await users.update(user.id, { hashedPassword: "c$c" });
    expect(await identities.list(user.id)).toEqual([]);
    const other = await users.create(bob, OTHER);
    await users.changeAsOperator(other.id, { email: "new@example.org" });
    expect(await identities.list(other.id)).toEqual([]);
    const third = await users.create({ ...ada, email: "c@example.org", username: "c" }, OTHER);
    const silent = { notifies: false };
    expect(await identities.deleteAll(third.id, { notifies: true })).toMatchObject({ id: third.id });
    expect(await identities.deleteAll(third.id + 1, silent)).toBeNull();
    expect(await identities.list(third.id)).toEqual([]);
    expect(await kindsOf(testDatabase)).toEqual(["identity"]);
    expect(await identities.delete(1, third.id, tokenOf(third), { ...silent, ...CAN_LOG_IN })).toBe(false);
  });
}
