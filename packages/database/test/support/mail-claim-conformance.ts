/** The claims of mails on all databases: which mail is next, the budgets of recipients, and what is never sent. */
import { expect } from "bun:test";
import type { MailKind } from "@latchkey/contracts";
import type { Database, MailBudget, MailPolicy, User } from "../../src/index.ts";
import { ada, bob, type Test, type TestDatabase } from "./test-database.ts";

const HOUR_MS = 3_600_000;
const budgets: readonly MailBudget[] = [
  { kinds: ["reset"], capacity: 3, refillMs: 2 * HOUR_MS },
  { kinds: ["verification"], capacity: 3, refillMs: 2 * HOUR_MS },
  { kinds: ["email-change"], capacity: 3, refillMs: 2 * HOUR_MS },
  { recipients: "verified", kinds: ["password"], capacity: 5, refillMs: 24 * HOUR_MS },
  { recipients: "unverified", kinds: ["password", "email"], capacity: 5, refillMs: 24 * HOUR_MS },
];
const digestMailbox = ({ email }: Pick<User, "email">): string => `digest of ${email}`;
const policy: MailPolicy = { digestMailbox, budgets, isWanted: () => true, isExpired: () => false };
export const claim = ({ outbox }: Database) => outbox.claim(policy);

export const tokenOf = ({ tokenVersion: version, hashedPassword }: User) => ({
  version,
  exceptToken: null,
  password: { hash: hashedPassword },
});
export const stateOf = ({ linkRevision }: User): string => `revision ${linkRevision}`;
export const requestChange = ({ users }: Database, user: User, email: string) =>
  users.requestEmailChange(user, email, tokenOf(user), { stateOf, capacity: 3 });

/** Changes the time of all attempts. */
function age({ query }: TestDatabase, hours: number): Promise<unknown> {
  const attemptedAt = new Date(Date.now() - hours * HOUR_MS).toISOString();
  return query(`update outbox set attempted_at = '${attemptedAt}'`);
}

/** Claims everything that is due and finishes what is within the budget. Returns how many mails of each kind those are. */
export async function send(database: Database): Promise<Partial<Record<MailKind, number>>> {
  const sent: Partial<Record<MailKind, number>> = {};
  for (let mail = await claim(database); mail; mail = await claim(database)) {
    if (mail.isWithinBudget) sent[mail.kind] = (sent[mail.kind] ?? 0) + 1;
    await (mail.isWithinBudget ? database.outbox.finish(mail.id) : database.outbox.discard(mail));
  }
  return sent;
}

export function mailClaimConformance(test: Test): void {
  test("a mail is claimed by one of two replicas, and again after its lease or its pause", async (testDatabase) => {
    const { database, query, reopen } = testDatabase;
    await using second = await reopen();
    const { users, outbox } = database;
    await users.create(ada);
    expect(await claim(second)).toBeNull();
    await outbox.request("verification", ada.email);
    const databases = Array.from({ length: 6 }, (_, index) => (index % 2 ? second : database));
    const claims = (await Promise.all(databases.map(claim))).filter((mail) => mail !== null);
    expect(claims).toMatchObject([{ kind: "verification", attempts: 1, user: { email: ada.email } }]);
    const [mail = { id: 0, attempts: 0 }] = claims;
    const [lease] = await query<{ next_attempt_at: string }>("select next_attempt_at from outbox");
    expect(Date.parse(lease?.next_attempt_at ?? "") - Date.now()).toBeWithin(50_000, 61_000);
    await outbox.postpone(mail, -1);
    expect(await claim(second)).toMatchObject({ attempts: 2, isWithinBudget: true });
    // The first replica was too slow: the mail stays claimed.
    await outbox.postpone(mail, -1);
    expect(await claim(second)).toBeNull();
    await outbox.finish(mail.id);
    expect(await outbox.count()).toBe(0);
  });

  test("mails are claimed in the order in which they are due, of whichever kind", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    await users.create(ada);
    const user = await users.create(bob);
    for (const day of ["2026-01-01", "2026-01-02"]) {
      await outbox.request("reset", ada.email);
      await requestChange(testDatabase, user, "new@example.org");
      for (const [kind, hour] of [
        ["email-change", 1],
        ["reset", 2],
      ])
        await query(
          `update outbox set next_attempt_at = '${day}T0${hour}:00:00.000Z' where kind = '${kind}' and next_attempt_at > '2026-02-01'`,
        );
    }
    const recipient = { email: "new@example.org", emailVerified: false };
    const change = { kind: "email-change", recipient, isTaken: false, user: { email: bob.email } };
    const reset = { kind: "reset", recipient: { email: ada.email } };
    for (const mail of [change, reset, change, reset]) expect(await claim(testDatabase)).toMatchObject(mail);
  });

  test("of two mails to one recipient that two replicas claim at once, one gets the last place of the budget", async (testDatabase) => {
    const { database, reopen } = testDatabase;
    await using second = await reopen();
    for (let index = 0; index < 10; index++) {
      const email = `user${index}@example.org`;
      await database.users.create({ ...ada, email, username: email });
      for (let request = 0; request < 4; request++) await database.outbox.request("reset", email);
      for (let mail = 0; mail < 2; mail++)
        expect(await claim(database)).toMatchObject({ isWithinBudget: true });
      const claimed = await Promise.all([claim(database), claim(second)]);
      expect(claimed.map((mail) => mail?.isWithinBudget).toSorted()).toEqual([false, true]);
    }
  });

  test("two replicas share the budgets of recipients, one for each kind of mail", async (testDatabase) => {
    const { database, query, reopen } = testDatabase;
    await using second = await reopen();
    const { users, outbox } = database;
    const { id } = await users.create(ada);
    const change =
      "insert into outbox (kind, user_id, recipient) values ('email-change', 0, 'new@example.org')";
    const request = async () => {
      for (let index = 0; index < 8; index++) {
        await outbox.request("reset", ada.email);
        await outbox.request("verification", ada.email);
        await query(`insert into outbox (kind, user_id) values ('password', ${id}), ('email', ${id})`);
        await query(change);
      }
    };
    const kinds = ["reset", "verification", "email-change", "password", "email"] as const;
    const sendBoth = async () => {
      const [one, other] = await Promise.all([send(database), send(second)]);
      const sent = Object.fromEntries(kinds.map((kind) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)]));
      // All notifications to an unverified recipient share a budget.
      const { password = 0, email = 0, ...others } = sent;
      return [...Object.values(others), password + email];
    };
    await request();
    expect(await sendBoth()).toEqual([3, 3, 3, 5]);
    await age(testDatabase, 1.9);
    await request();
    expect(await sendBoth()).toEqual([0, 0, 0, 0]);
    await age(testDatabase, 2.1);
    await request();
    expect(await sendBoth()).toEqual([1, 1, 1, 0]);
    // The budget belongs to the address: a new user with it has no other one. A verified one has its own for notifications.
    await users.delete(id);
    const { id: newId } = await users.create(ada);
    await outbox.request("verification", ada.email);
    await query(`insert into outbox (kind, user_id) values ('password', ${newId})`);
    expect(await sendBoth()).toEqual([0, 0, 0, 0]);
    await users.update(newId, { emailVerified: true });
    for (let index = 0; index < 8; index++)
      await query(`insert into outbox (kind, user_id) values ('password', ${newId}), ('email', ${newId})`);
    expect(await sendBoth()).toEqual([0, 0, 0, 5 + 8]);
    await age(testDatabase, 24.1);
    await query(change);
    expect(await sendBoth()).toEqual([0, 0, 1, 0]);
    await outbox.deleteOld();
    expect(await query("select recipient from outbox")).toEqual([{ recipient: null }]);
  });

  test("of the mails without an attempt, the newest can be claimed; other mails are not", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    for (const user of [ada, bob]) await users.create(user);
    const claimNew = () => outbox.claim({ ...policy, order: "newest" });
    await outbox.request("reset", ada.email);
    await query("update outbox set next_attempt_at = '2026-01-01T01:00:00.000Z'");
    await outbox.request("verification", bob.email);
    for (const kind of ["verification", "reset"]) {
      const mail = await claimNew();
      expect(mail).toMatchObject({ kind, attempts: 1 });
      await outbox.postpone(mail ?? { id: 0, attempts: 0 }, -1);
    }
    expect(await claimNew()).toBeNull();
    expect(await claim(testDatabase)).toMatchObject({ attempts: 2 });
  });

  test("the newest mail to a verified e-mail can be claimed before all others, for which it does not wait", async (testDatabase) => {
    const { users, factors, outbox, query } = testDatabase;
    const { id } = await users.create(ada);
    await users.update(id, { emailVerified: true });
    const { id: bobId } = await users.create(bob);
    const claimVerified = () => outbox.claim({ ...policy, order: "newest-verified" });
    for (const kind of ["reset", "verification"] as const) await outbox.request(kind, bob.email);
    await query(
      `insert into outbox (kind, user_id, recipient) values ('email-change', ${id}, 'new@example.org')`,
    );
    expect(await claimVerified()).toBeNull();
    await users.update(id, { hashedPassword: "b$b", notifies: true });
    await outbox.request("reset", ada.email);
    await query("update outbox set next_attempt_at = '2026-01-01T01:00:00.000Z' where kind <> 'password'");
    await query("update outbox set next_attempt_at = '2026-01-01T00:30:00.000Z' where kind = 'password'");
    await outbox.request("login-code", ada.email, { state: "a" });
    await outbox.request("verification", bob.email);
    const code = await claimVerified();
    expect(code).toMatchObject({ kind: "login-code", user: { id } });
    expect(await claimVerified()).toMatchObject({ kind: "reset", user: { id } });
    expect(await claimVerified()).toMatchObject({ kind: "password", user: { id } });
    await outbox.postpone(code ?? { id: 0, attempts: 0 }, -1);
    expect(await claimVerified()).toMatchObject({ kind: "login-code", attempts: 2 });
    for (const state of ["b", "c"]) await outbox.request("login-code", ada.email, { state });
    await query("update outbox set is_familiar = true where state = 'b'");
    for (const state of ["b", "c"])
      expect(await claimVerified()).toMatchObject({ kind: "login-code", state });
    for (const userId of [bobId, id]) await factors.notifyOfFailures(userId);
    expect(await claimVerified()).toMatchObject({ kind: "factor-failures", user: { id } });
    await users.delete(id, undefined, { notifies: true });
    expect(await claimVerified()).toMatchObject({ kind: "deletion", user: null });
    expect(await claimVerified()).toBeNull();
  });

  test("a claim for verified e-mails deletes their mails beyond a budget, whatever number of newer mails to others waits", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    const { id } = await users.create({ ...ada, emailVerified: true });
    const { id: bobId } = await users.create(bob);
    for (let index = 0; index < 9; index++) await outbox.request("reset", ada.email);
    await query("update outbox set next_attempt_at = '2026-01-01T01:00:00.000Z'");
    // As many as one statement reads.
    await query(`insert into outbox (kind, user_id) with recursive numbers(number) as
      (select 1 union all select number + 1 from numbers where number < 2000)
      select 'verification', ${bobId} from numbers`);
    const claimVerified = () => outbox.claim({ ...policy, order: "newest-verified" });
    for (let index = 0; index < 3; index++)
      expect(await claimVerified()).toMatchObject({ kind: "reset", isWithinBudget: true });
    expect(await claimVerified()).toMatchObject({ suppressed: [{ kind: "reset", userId: id, count: 6 }] });
    expect(await claimVerified()).toBeNull();
    // One more than a statement deletes.
    await query(`update outbox set kind = 'reset', user_id = ${id}, is_recipient_verified = true
      where kind = 'verification'`);
    await outbox.request("reset", ada.email);
    expect(await claimVerified()).toMatchObject({
      isDeleted: true,
      suppressed: [{ kind: "reset", userId: id, count: 2000 }],
    });
    expect(await query("select attempts from outbox where email_digest is null")).toEqual([{ attempts: 0 }]);
  });

  test("mails that are never sent are deleted with one claim, and mails of unknown kinds stay", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    for (const user of [ada, bob]) await users.create(user);
    await query(
      "insert into outbox (kind, user_id, next_attempt_at) values ('later', 1, '2026-01-01T00:00:00.000Z')",
    );
    for (let index = 0; index < 20; index++) await outbox.request("reset", `nobody${index}@example.org`);
    for (let index = 0; index < 20; index++) await outbox.request("reset", ada.email);
    await outbox.request("verification", bob.email);
    expect(await outbox.count()).toBe(41);
    for (let index = 0; index < 3; index++)
      expect(await claim(testDatabase)).toMatchObject({ isWithinBudget: true, isDeleted: false });
    const suppressed = [{ kind: "reset", userId: 1, count: 17 }];
    expect(await claim(testDatabase)).toMatchObject({ isWithinBudget: false, isDeleted: true, suppressed });
    expect(await claim(testDatabase)).toMatchObject({ kind: "verification", isWithinBudget: true });
    expect(await claim(testDatabase)).toBeNull();
    expect(await query("select attempts from outbox where kind = 'later'")).toEqual([{ attempts: 0 }]);
    expect(await query("select id from outbox where user_id is null")).toEqual([]);
  });

  test("one claim deletes the mails that many users do not get, and tells those beyond a budget", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    const userIds: number[] = [];
    for (let index = 0; index < 6; index++) {
      const { id } = await users.create({
        ...ada,
        email: `user${index}@example.org`,
        username: `user${index}`,
      });
      userIds.push(id);
    }
    const requestAll = async (count: number) => {
      for (let index = 0; index < 6 * count; index++)
        await outbox.request("reset", `user${index % 6}@example.org`);
    };
    await requestAll(3);
    expect(await send(testDatabase)).toEqual({ reset: 18 });
    await requestAll(2);
    for (const id of userIds.slice(3)) await users.changeAsOperator(id, { isActive: false });
    // A deactivation deletes the waiting resets of the user.
    for (const index of [3, 4, 5]) await outbox.request("reset", `user${index}@example.org`);
    await users.create(bob);
    await outbox.request("verification", bob.email);
    const isWanted: MailPolicy["isWanted"] = ({ user }) => user?.isActive === true;
    const claimWanted = () => outbox.claim({ ...policy, isWanted });
    const first = await claimWanted();
    expect(first).toMatchObject({ isDeleted: true, isWithinBudget: false });
    expect(first?.suppressed.toSorted((one, other) => Number(one.userId) - Number(other.userId))).toEqual(
      userIds.slice(0, 3).map((userId) => ({ kind: "reset", userId, count: 2 })),
    );
    expect(await claimWanted()).toMatchObject({ kind: "verification", isWithinBudget: true });
    expect(await claimWanted()).toBeNull();
  });

  test("a mail that is not sent does not prevent another, also while it is claimed", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    await users.create(ada);
    const claimNext = () => outbox.claim({ ...policy, isExpired: () => true });
    for (let index = 0; index < 6; index++) await outbox.request("reset", ada.email);
    const expired = [await claimNext(), await claimNext(), await claimNext()];
    expect(await send(testDatabase)).toEqual({ reset: 3 });
    for (const mail of expired) if (mail) await outbox.discard(mail);
    await outbox.request("reset", ada.email);
    expect(await send(testDatabase)).toEqual({});
  });

  test("resets of the operator have no limit, and a revoked one is deleted", async (testDatabase) => {
    const { users, outbox, query } = testDatabase;
    const { id } = await users.create(ada);
    const operate = () => outbox.request("reset", ada.email, { isLimited: false });
    for (let index = 0; index < 4; index++) await operate();
    expect(await send(testDatabase)).toEqual({ reset: 4 });
    await operate();
    await users.revokeTokens(id);
    await age(testDatabase, 24.1);
    await outbox.deleteOld();
    expect(await query("select id from outbox")).toEqual([]);
  });

  test("a mail that waits for another attempt is kept, however long ago the last one was", async (testDatabase) => {
    const { users, outbox } = testDatabase;
    await users.create(ada);
    await outbox.request("invitation", ada.email);
    await outbox.postpone((await claim(testDatabase)) ?? { id: 0, attempts: 0 }, 60);
    await age(testDatabase, 24.1);
    await outbox.deleteOld();
    expect(await outbox.count()).toBe(1);
  });
}
