/**
 * Changes that wait for a lock in PostgreSQL: what other transactions commit until then counts. The embedded database runs one
 * transaction at a time.
 */
import { expect, test } from "bun:test";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import type { Guard, UserRepository } from "../../src/index.ts";
import { hold, openEmptiedPostgresDatabase } from "../support/postgres-database.ts";
import { ada, type TestDatabase } from "../support/test-database.ts";

const server = await sharedPostgresServer();

const NEW_HASH = { hashedPassword: "new$digest" };

async function open() {
  const testDatabase = await openEmptiedPostgresDatabase(server);
  const user = await testDatabase.database.users.create(ada);
  return { ...testDatabase, id: user.id };
}

/** Resolves once `count` connections wait for a lock, or `change` settles without waiting. */
async function untilWaiting({ query }: TestDatabase, count: number, change: Promise<unknown>): Promise<void> {
  const waiting =
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  change.then(settle, settle);
  while (!isSettled && (await query(waiting)).length < count);
}

const networks = ({ query }: TestDatabase) => query("select * from user_networks");

test("a network that is stored while a new hash waits for the user is deleted", async () => {
  await using testDatabase = await open();
  const { database, id } = testDatabase;
  await using holder = await hold(testDatabase, `select from users where id = ${id} for share`);
  const change = database.users.update(id, NEW_HASH);
  await untilWaiting(testDatabase, 1, change);
  await database.users.storeNetwork(id, "late", 0);
  await holder.commit();
  expect(await change).toMatchObject(NEW_HASH);
  expect(await networks(testDatabase)).toEqual([]);
});

test("a network is not stored while a new hash is not yet committed", async () => {
  await using testDatabase = await open();
  const { database, id } = testDatabase;
  await database.users.storeNetwork(id, "old", 0);
  await using holder = await hold(testDatabase, "select from user_networks for update");
  const change = database.users.update(id, NEW_HASH);
  await untilWaiting(testDatabase, 1, change);
  const store = database.users.storeNetwork(id, "late", 0);
  await untilWaiting(testDatabase, 2, store);
  await holder.commit();
  await Promise.all([change, store]);
  expect(await networks(testDatabase)).toEqual([]);
});

test.each<[name: string, (users: UserRepository, id: number, token: Guard) => Promise<unknown>]>([
  ["a new username", (users, id, token) => users.update(id, { username: "countess" }, token)],
  ["a new hash", (users, id, token) => users.update(id, NEW_HASH, token)],
  ["a revocation", (users, id, token) => users.revokeTokens(id, token)],
  ["a deletion", (users, id, token) => users.delete(id, token)],
])("%s requires a token that is not revoked, also while the change waits for the user", async (_, change) => {
  await using testDatabase = await open();
  const { users } = testDatabase.database;
  const { id } = testDatabase;
  await using holder = await hold(testDatabase, `update users set token_version = 1 where id = ${id}`);
  const changed = change(users, id, { version: 0, exceptToken: null });
  await untilWaiting(testDatabase, 1, changed);
  await holder.commit();
  expect(await changed).toBeFalsy();
  expect(await users.findById(id)).toMatchObject({ ...ada, tokenVersion: 1 });
  expect(await change(users, id, { version: 1, exceptToken: null })).toBeTruthy();
});
