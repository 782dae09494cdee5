/** The outbox on all databases: what writes and deletes mails, and who gets them. */
import { expect } from "bun:test";
import type { MailKind } from "@latchkey/contracts";
import { type Database, type NewUser, type User, UserAlreadyExists } from "../../src/index.ts";
import { claim, requestChange, send, stateOf, tokenOf } from "./mail-claim-conformance.ts";
import { ada, bob, errorOf, networksOf, type Test, type TestDatabase } from "./test-database.ts";

const HOUR_MS = 3_600_000;
const endedPassword = { hashedPassword: "random$digest", importedHash: null };

interface Row {
  readonly kind: MailKind;
  readonly user_id: number | string | null;
}

/** The kinds of all mails that wait, in order. */
async function waiting({ query }: TestDatabase): Promise<string[]> {
  const rows = await query<Row>(
    "select kind, user_id from outbox where next_attempt_at is not null order by id",
  );
  return rows.map(({ kind, user_id }) => `${kind} ${user_id}`);
}

const changeEmail = ({ users }: Database, user: User) => users.changeEmail(user, tokenOf(user));

async function readUser({ users }: Database, id: number): Promise<User> {
  const user = await users.findById(id);
  if (!user) throw new Error("The user does not exist");
  return user;
}

export function outboxConformance(test: Test): void {
  test("a mail is written together with its cause, or not at all", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    const verified: NewUser = { ...ada, verifies: true };
    const { id, emailVerified } = await users.create(verified);
    expect(emailVerified).toBe(false);
    await users.create(verified).catch(() => null);
    await users.update(id, { hashedPassword: "b$b", notifies: true }, { version: 9, exceptToken: null });
    await users.update(id, { hashedPassword: "c$c", notifies: true, emailVerified: true });
    await users.update(id, { hashedPassword: "d$d" });
    await outbox.request("verification", ada.email);
    await outbox.request("reset", ada.email);
    await outbox.request("reset", "nobody@example.org");
    expect(await waiting(testDatabase)).toEqual([
      `verification ${id}`,
      `password ${id}`,
      `verification ${id}`,
      `reset ${id}`,
      "reset null",
    ]);
    expect(await outbox.count()).toBe(5);
    expect((await users.findById(id))?.emailVerified).toBe(true);
    await testDatabase.query("alter table outbox rename to gone");
    const failed = users.update(id, { hashedPassword: "e$e", notifies: true }).catch((error) => error.code);
    expect(await failed).toBe("DATABASE_UNAVAILABLE");
    expect((await users.findById(id))?.hashedPassword).toBe("d$d");
  });

  test("a new hash, a revocation, a deactivation and its end delete the user's queued resets only", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    const [first, second] = [await users.create(ada), await users.create(bob)];
    const changes = [
      () => users.update(first.id, { hashedPassword: "new$digest" }),
      () => users.revokeTokens(first.id),
      () => users.changeAsOperator(first.id, { isActive: false }),
    ];
    await outbox.request("reset", bob.email);
    await outbox.request("verification", ada.email);
    await outbox.request("invitation", bob.email);
    const others = [`reset ${second.id}`, `verification ${first.id}`, `invitation ${second.id}`];
    for (const change of changes) {
      await outbox.request("reset", ada.email);
      await users.update(first.id, { username: "countess" });
      await users.changeAsOperator(first.id, { isActive: true });
      expect(await waiting(testDatabase)).toEqual([...others, `reset ${first.id}`]);
      await change();
      expect(await waiting(testDatabase)).toEqual(others);
    }
    await outbox.request("reset", ada.email);
    await users.changeAsOperator(first.id, { isActive: true });
    expect(await waiting(testDatabase)).toEqual(others);
    // An invitation is bound to the password only.
    await users.revokeTokens(second.id);
    expect(await waiting(testDatabase)).toEqual(others.slice(1));
    await users.update(second.id, { hashedPassword: "new$digest" });
    expect(await waiting(testDatabase)).toEqual(others.slice(1, 2));
  });

  test("a reset that is being sent when its user revokes all tokens is counted, and not sent again", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    const { id } = await users.create(ada);
    const results: (boolean | undefined)[] = [];
    for (let index = 0; index < 4; index++) {
      await outbox.request("reset", ada.email);
      const mail = await claim(testDatabase);
      results.push(mail?.isWithinBudget);
      await users.revokeTokens(id);
      if (mail) await outbox.postpone(mail, -1);
      expect(await waiting(testDatabase)).toEqual([]);
    }
    expect(results).toEqual([true, true, true, false]);
  });

  test("two replicas count the requests of a user for a change of e-mail, and allow one approval and one confirmation", async (testDatabase) => {
    const { database, query, reopen } = testDatabase;
    await using second = await reopen();
    const { id } = await database.users.create(ada);
    await database.users.update(id, { emailVerified: true });
    const user = await readUser(database, id);
    const both = <T>(work: (one: Database, index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 8 }, (_, index) => work(index % 2 ? second : database, index)));
    const outcomes = await both((one, index) => requestChange(one, user, `new${index}@example.org`));
    expect(outcomes.filter((outcome) => outcome === "requested")).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === "limited")).toHaveLength(5);
    const changing = await readUser(database, id);
    expect(changing).toMatchObject({ linkRevision: 3, updatedAt: user.updatedAt });
    // The approval and the mail that it writes are one request. What is sent and finished still counts.
    const approve = (one: Database) =>
      one.users.approveEmailChange(changing, stateOf(changing), tokenOf(user));
    expect((await both(approve)).filter(Boolean)).toHaveLength(1);
    await send(database);
    expect(await requestChange(second, user, "new@example.org")).toBe("limited");
    await query(`update outbox set created_at = '2026-01-01T00:00:00.000Z' where state = 'revision 1'`);
    expect(await requestChange(second, user, "last@example.org")).toBe("requested");
    expect(await approve(database)).toBe(false);
    expect(await changeEmail(database, changing)).toBeNull();
    const last = await readUser(database, id);
    const changed = (await both((one) => changeEmail(one, last))).filter((one) => one !== null);
    expect(changed).toMatchObject([{ email: "last@example.org", pendingEmail: null, linkRevision: 5 }]);
    expect(await requestChange(database, last, "x@example.org")).toBeNull();
  });

  test("a request for the present e-mail cancels the change, without a limit", async ({ database }) => {
    const user = await database.users.create(ada);
    await requestChange(database, user, "new0@example.org");
    const first = await readUser(database, user.id);
    expect(await requestChange(database, user, ada.email)).toBe("cancelled");
    // The links of the first request stay invalid when the same address is requested again.
    await requestChange(database, user, "new0@example.org");
    expect(await changeEmail(database, first)).toBeNull();
    for (const index of [2, 3]) await requestChange(database, user, `new${index}@example.org`);
    expect(await readUser(database, user.id)).toMatchObject({ pendingEmail: "new2@example.org" });
    expect(await requestChange(database, user, ada.email)).toBe("cancelled");
    const cancelled = await readUser(database, user.id);
    expect(cancelled).toMatchObject({ pendingEmail: null, linkRevision: 5 });
    expect(await changeEmail(database, cancelled)).toBeNull();
  });

  test("a changed e-mail ends the links of the old one, which gets all warnings, also after a deletion", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    const { id } = await users.create({ ...ada, verifies: true });
    await users.markImported([id]);
    await outbox.request("reset", ada.email);
    await users.update(id, { hashedPassword: "b$b", notifies: true });
    await users.update(id, { emailVerified: true });
    await outbox.request("reset", ada.email);
    await users.storeNetwork(id, "home");
    await users.create(bob);
    await requestChange(testDatabase, await readUser(testDatabase, id), bob.email);
    const taken = await readUser(testDatabase, id);
    expect(await errorOf(changeEmail(testDatabase, taken))).toBeInstanceOf(UserAlreadyExists);
    await requestChange(testDatabase, taken, "new@example.org");
    expect(await changeEmail(testDatabase, taken)).toBeNull();
    const user = await readUser(testDatabase, id);
    const changed = await changeEmail(testDatabase, user);
    expect(changed).toMatchObject({ emailVerified: true, tokenVersion: user.tokenVersion + 1 });
    expect(await networksOf(users, id)).toBe(0);
    expect(await users.findDeleted([ada.email])).toEqual([ada.email]);
    const approval = `email-change-approval ${id}`;
    const warnings = [`password ${id}`, `email ${id}`];
    expect((await waiting(testDatabase)).filter((mail) => mail !== approval)).toEqual(warnings);
    await query("delete from outbox where kind = 'email-change-approval'");
    await users.delete(id, undefined, { notifies: true });
    const [email, emailVerified] = [changed?.email, true];
    for (const kind of ["password", "email"])
      expect(await claim(testDatabase)).toMatchObject({ kind, user: null, recipient: { email: ada.email } });
    const recipient = { email, emailVerified };
    expect(await claim(testDatabase)).toMatchObject({ kind: "deletion", user: null, recipient });
  });

  test("an operator's new e-mail ends all credentials and links, and leads back to the same user", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    const { id } = await users.create(ada);
    await users.update(id, { emailVerified: true });
    await users.storeNetwork(id, "home");
    const user = await readUser(testDatabase, id);
    await users.create(bob);
    await requestChange(testDatabase, user, "thief@example.org");
    await outbox.request("reset", ada.email);
    const change = (email: string) =>
      users.changeAsOperator(id, { email }, { notifies: true, endedPassword });
    expect(await errorOf(change(bob.email))).toBeInstanceOf(UserAlreadyExists);
    const [approved, before] = [await readUser(testDatabase, id), await waiting(testDatabase)];
    expect(before).toEqual([`email-change-approval ${id}`, `reset ${id}`]);
    const away = await change("away@example.org");
    expect(away?.user).toMatchObject({
      ...{ id, email: "away@example.org", emailVerified: false, pendingEmail: null },
      ...{ hashedPassword: "random$digest", tokenVersion: user.tokenVersion + 1, passkeyRevision: 1 },
    });
    expect(await networksOf(users, id)).toBe(0);
    expect(await changeEmail(testDatabase, approved)).toBeNull();
    expect(await waiting(testDatabase)).toEqual([before[0] ?? "", `email ${id}`, `reset ${id}`]);
    expect((await change(ada.email))?.user).toMatchObject({ id, email: ada.email });
  });

  test("a new e-mail of the operator gets its reset, also together with changes that delete waiting resets", async (testDatabase) => {
    const { users } = testDatabase;
    const { id } = await users.create({ ...ada, roles: ["admin"] });
    await users.changeAsOperator(id, { isActive: false });
    const change = { email: "away@example.org", hashedPassword: "new$digest", roles: [], isActive: true };
    await users.changeAsOperator(id, change, { notifies: true });
    expect(await waiting(testDatabase)).toEqual([`email ${id}`, `password ${id}`, `reset ${id}`]);
  });

  test("a mail is requested from a familiar network if its user was there in the last 30 days", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    const { id } = await users.create(ada);
    await users.storeNetwork(id, "home");
    const isFamiliarAfter = async (days: number) => {
      const lastSeenAt = new Date(Date.now() - days * 24 * HOUR_MS).toISOString();
      await query(`update user_networks set last_seen_at = '${lastSeenAt}'`);
      await outbox.request("reset", ada.email, { networkDigest: "home" });
      return (await claim(testDatabase))?.isFamiliar;
    };
    expect([await isFamiliarAfter(29.9), await isFamiliarAfter(30.1)]).toEqual([true, false]);
  });
}
