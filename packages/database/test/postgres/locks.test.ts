/**
 * Changes that wait for a lock in PostgreSQL: what other transactions commit until then counts. The embedded database runs one
 * transaction at a time.
 */
import { afterAll, expect, test } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openPostgresTestDatabase } from "../support/postgres-database.ts";
import { ada, type TestDatabase } from "../support/test-database.ts";

const server = await startPostgresServer();
afterAll(() => server[Symbol.asyncDispose]());

const NEW_HASH = { hashedPassword: "new$digest" };

async function open() {
  const testDatabase = await openPostgresTestDatabase(server);
  const user = await testDatabase.database.users.create(ada);
  return { ...testDatabase, id: user.id };
}

/** Runs `sql` in a transaction that stays open until `commit`. */
async function hold({ url }: TestDatabase, sql: string) {
  const client = new Bun.SQL(url, { max: 1 });
  await client.unsafe(`begin; ${sql}`).simple();
  return { commit: () => client.unsafe("commit").simple(), [Symbol.asyncDispose]: () => client.close() };
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

test.each(["update", "revokeTokens", "delete"] as const)(
  "%s does not happen if the token is revoked while it waits for the user",
  async (method) => {
    await using testDatabase = await open();
    const { users } = testDatabase.database;
    const { id } = testDatabase;
    await using holder = await hold(testDatabase, `update users set token_version = 1 where id = ${id}`);
    const token = { version: 0, tokenId: null };
    const change =
      method === "update" ? users.update(id, { username: "countess" }, token) : users[method](id, token);
    await untilWaiting(testDatabase, 1, change);
    await holder.commit();
    expect(await change).toBeFalsy();
    expect(await users.findById(id)).toMatchObject({ ...ada, tokenVersion: 1 });
  },
);
