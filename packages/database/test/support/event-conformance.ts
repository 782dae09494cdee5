/** Account events on all databases: what is recorded, and the order in which readers get it. */
import { expect } from "bun:test";
import type { AccountEvent, EventRepository } from "../../src/index.ts";
import { ada, bob, errorOf, type Test } from "./test-database.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const longAgo = new Date(Date.now() - 40 * DAY_MS).toISOString();

const summary = ({ type, userId, changed }: AccountEvent) => [type, userId, changed];

async function readAll(events: EventRepository, after: number | null = null): Promise<AccountEvent[]> {
  const page = await events.read({ after, limit: 1_000 });
  return [...(page?.items ?? [])];
}

export function eventConformance(test: Test): void {
  test("nothing is recorded before recording is on, and nothing is kept when it is off", async ({
    users,
    events,
    query,
  }) => {
    const { id } = await users.create(ada);
    await users.revokeTokens(id);
    await users.delete(id);
    expect(await query("select 1 from events")).toEqual([]);
    for (const off of [events.getState(), events.read({ after: 0, limit: 1 }), events.placeNow()])
      expect(await off).toBeNull();
    await events.enable(7);
    await users.create(bob);
    const state = await events.getState();
    expect(state).toMatchObject({ days: 7, lastPosition: 0, isNumbered: false });
    await events.enable(8);
    expect(await events.getState()).toMatchObject({ ...state, days: 8 });
    expect(await events.count()).toBe(1);
    await readAll(events);
    await events.disable();
    expect(await query("select 1 from events")).toEqual([]);
    await users.create(ada);
    expect([await events.getState(), await events.count(), await events.prune()]).toEqual([null, 0, 0]);
    await events.enable(8);
    const again = await events.getState();
    expect(again).toMatchObject({ lastPosition: 1, isNumbered: true });
    expect(again?.epoch).not.toBe(state?.epoch);
  });

  test("an event names what changed, and has the state of the user after the change; it has no name and no address", async ({
    users,
    events,
    query,
  }) => {
    await events.enable(30);
    const { id } = await users.create(ada);
    await users.changeAsOperator(id, { username: "countess", roles: ["admin"] });
    await users.update(id, { hashedPassword: "new$digest", passwordChangeTokenId: "kept" });
    await users.verifyEmail({ id, email: ada.email });
    await users.changeAsOperator(id, { isActive: false });
    await query(`update users set claims = '{"plan":"pro"}', email = 'eve@example.org' where id = ${id}`);
    const last = await users.findById(id);
    await users.delete(id);
    const found = await readAll(events);
    const changes = [
      ["username", "roles"],
      ["tokens"],
      ["email_verified"],
      ["is_active"],
      ["email", "claims"],
    ];
    expect(found.map(summary)).toEqual([
      ["user.created", id, []],
      ...changes.map((changed) => ["user.updated", id, changed]),
      ["user.deleted", id, []],
    ]);
    expect(found.at(3)).toMatchObject({ isActive: true, tokenVersion: 1, keptJti: "kept" });
    expect(found.at(-2)).toMatchObject({
      isActive: false,
      tokenVersion: last?.tokenVersion,
      keptJti: "kept",
    });
    expect(found.at(-1)).toMatchObject({ isActive: null, tokenVersion: null, keptJti: null });
    expect(found.map(({ position }) => position)).toEqual(found.map((_, index) => index + 1));
    const rows = JSON.stringify(await query("select * from events"));
    for (const text of ["ada", "countess", "example", "admin", "pro"]) expect(rows).not.toContain(text);
  });

  test("SQL of other clients is recorded row by row; logins, new hashes, times, languages and changes to the present value are not", async ({
    users,
    events,
    query,
  }) => {
    await events.enable(30);
    await query("insert into users (email, username, hashed_password) values ('a', 'a', ''), ('b', 'b', '')");
    await query("update users set is_active = false where email = 'b'");
    await query("delete from users");
    const { id } = await users.create(ada);
    const { position } = (await events.placeNow()) ?? {};
    await query("update users set last_login_at = created_at, updated_at = created_at, locale = 'de'");
    await query("update users set hashed_password = 'x', imported_hash = 'y', passkey_revision = 7");
    await query("update users set email = email, username = 'ada', roles = '[]', token_version = 0");
    await users.storeNetwork(id, "one");
    const found = await readAll(events);
    expect(found.map(({ type }) => type).sort()).toEqual([
      ...["user.created", "user.created", "user.created", "user.deleted", "user.deleted", "user.updated"],
    ]);
    expect(found.at(-1)?.position).toBe(position);
  });

  test("a change that is rolled back is not an event", async ({ users, events, query }) => {
    await events.enable(30);
    const { id } = await users.create(ada);
    await query("alter table user_networks rename to gone");
    expect(await errorOf(users.update(id, { hashedPassword: "new$digest" }))).not.toBeNull();
    await users.changeAsOperator(id, { username: "countess" });
    expect((await readAll(events)).map(summary)).toEqual([
      ["user.created", id, []],
      ["user.updated", id, ["username"]],
    ]);
  });

  test("two readers number the events of two writers once, a thousand at a time, and get the same order", async ({
    database,
    events,
    query,
    reopen,
  }) => {
    await using second = await reopen();
    await events.enable(30);
    for (let start = 0; start < 2_400; start += 400) {
      const rows = Array.from({ length: 400 }, (_, index) => `('${start + index}', '${start + index}', '')`);
      await query(`insert into users (email, username, hashed_password) values ${rows}`);
    }
    await Promise.all([database.users.create(ada), second.users.create(bob)]);
    const page = await events.read({ after: null, limit: 2_000 });
    expect([page?.items.length, page?.lastPosition]).toEqual([1_000, 1_000]);
    const readers = [database, second, database, second];
    await Promise.all(readers.map((one) => one.events.read({ after: 0, limit: 1 })));
    const [mine, others] = await Promise.all(
      [events, second.events].map((one) => one.read({ after: 0, limit: 5_000 })),
    );
    expect(mine).toEqual(others ?? null);
    expect(mine?.items.map(({ position }) => position)).toEqual(
      Array.from({ length: 2_402 }, (_, index) => index + 1),
    );
    expect(new Set(mine?.items.map(({ userId }) => userId)).size).toBe(2_402);
    expect([await events.count(), (await events.placeNow())?.position]).toEqual([2_402, 2_402]);
  });

  test("an event is as old as its visibility, and a place is found by the age of the first event", async ({
    users,
    events,
    query,
  }) => {
    await events.enable(30);
    await users.create(ada);
    await users.create(bob);
    await query(`update events set created_at = '${longAgo}'`);
    const found = await readAll(events);
    expect(Date.now() - Date.parse(found[0]?.createdAt ?? "")).toBeWithin(-1_000, 10_000);
    expect(await events.placeSince(60)).toMatchObject({ position: 0 });
    await query(`update events set created_at = '${longAgo}' where position = 1`);
    expect(await events.placeSince(60)).toMatchObject({ position: 1 });
    await query(`update events set created_at = '${longAgo}'`);
    const { epoch } = (await events.getState()) ?? {};
    expect(await events.placeSince(60)).toEqual({ position: 2, epoch: epoch ?? "" });
    expect(await events.read({ after: 2, limit: 9 })).toMatchObject({ items: [], lastPosition: 2 });
  });

  test("old events are deleted from the first position on, which readers recognise; those that nobody read get a time first", async ({
    users,
    events,
    query,
  }) => {
    await events.enable(30);
    for (let index = 0; index < 4; index++)
      await users.create({ ...ada, email: `${index}@b.c`, username: `${index}` });
    await query(`update events set created_at = '${longAgo}'`);
    expect(await events.prune()).toBe(0);
    expect(await events.getState()).toMatchObject({ isNumbered: true, lastPosition: 4 });
    // The clock of the database can have been set back: 2 is newer than 3.
    await query(`update events set created_at = '${longAgo}' where position in (1, 3)`);
    expect(await events.prune()).toBe(1);
    const isExpired = async (after: number | null) => (await events.read({ after, limit: 9 }))?.isExpired;
    expect(await Promise.all([null, 0, 1, 4, 5].map(isExpired))).toEqual([false, true, false, false, true]);
    await query(`update events set created_at = '${longAgo}'`);
    expect(await events.prune()).toBe(3);
    expect(await Promise.all([null, 3, 4].map(isExpired))).toEqual([false, true, false]);
    await users.create(ada);
    expect(await Promise.all([null, 3, 4].map(isExpired))).toEqual([false, true, false]);
    expect((await readAll(events, 4)).map(({ position }) => position)).toEqual([5]);
  });
}
