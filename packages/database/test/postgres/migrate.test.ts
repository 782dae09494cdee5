/** A migration of a PostgreSQL database that is in use: queries continue, and a lock conflict delays only the migration. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { parsePostgresUrl } from "@latchkey/contracts";
import { ROOT } from "@latchkey/testing/repository";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { DatabaseUnavailable } from "../../src/index.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { openMigrationsFolder } from "../support/extra-migration.ts";
import { hold, openPostgresTestDatabase } from "../support/postgres-database.ts";

const server = await sharedPostgresServer();

/** A database whose table `todos` is locked by an open transaction that has read it, and a migration with these statements. */
async function openLockedDatabase(...statements: string[]) {
  const folder = await openMigrationsFolder("postgres", { oldestRelease: "1.0.0", statements });
  const testDatabase = await openPostgresTestDatabase(server, { poolSize: 3 });
  const holder = await hold(testDatabase, "select * from todos");
  return {
    ...testDatabase,
    migration: { address: parsePostgresUrl(testDatabase.url), migrationsFolder: folder.path },
    columns: () =>
      testDatabase.query<{ name: string }>(
        "select attname as name from pg_attribute where attname in ('extra_1', 'extra_2') order by 1",
      ),
    unlock: holder.commit,
    [Symbol.asyncDispose]: async () => {
      await holder[Symbol.asyncDispose]();
      await testDatabase[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ADD_TO_USERS = "alter table users add column extra_1 integer not null default 0";
const ADD_TO_TODOS = "alter table todos add column extra_2 integer not null default 0";

test.concurrent("while an open transaction blocks a migration, no read and no ping fails, and it succeeds afterwards", async () => {
  await using locked = await openLockedDatabase(ADD_TO_TODOS);
  const { todos, ping } = locked.database;
  const threeAttempts = Promise.withResolvers<void>();
  const attempts: string[] = [];
  const log = (message: string) => {
    if (attempts.push(message) === 3) threeAttempts.resolve();
  };
  let isMigrating = true;
  const repeat = async (query: () => Promise<unknown>) => {
    for (; isMigrating; await Bun.sleep(5)) await query();
  };
  // More readers than connections: a ping waits behind blocked reads.
  const traffic = [
    ...Array.from({ length: 6 }, () => repeat(() => todos.list({ after: 0, limit: 1 }))),
    repeat(ping),
  ];
  const migrated = migrate({ ...locked.migration, log });
  await Promise.race([threeAttempts.promise, ...traffic]);
  await locked.unlock();
  expect(await migrated).toBe("current");
  isMigrating = false;
  await Promise.all(traffic);
  expect(attempts[2]).toContain("Attempt 3 ended after 300 ms");
  expect(await locked.columns()).toEqual([{ name: "extra_2" }]);
});

test.concurrent("a blocked migration ends at the deadline, and the next one resumes after the applied statements", async () => {
  await using locked = await openLockedDatabase(ADD_TO_USERS, ADD_TO_TODOS);
  const error = await migrate({ ...locked.migration, deadlineMs: 2_500 }).catch((reason) => reason);
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect(error.reason).toBe("55P03");
  expect(await locked.columns()).toEqual([{ name: "extra_1" }]);
  expect(await locked.database.migrate()).toBe("current");

  await locked.unlock();
  await Promise.all([migrate(locked.migration), migrate(locked.migration)]);
  expect(await locked.columns()).toEqual([{ name: "extra_1" }, { name: "extra_2" }]);
  expect(
    await locked.query("select hash from __drizzle_migrations group by hash having count(*) > 1"),
  ).toEqual([]);
});

test.concurrent("while one replica waits for a lock on a table, the others make no attempts", async () => {
  await using locked = await openLockedDatabase(ADD_TO_TODOS);
  const attempts = { first: 0, second: 0 };
  const isBlocked = Promise.withResolvers<void>();
  const isBlockedAgain = Promise.withResolvers<void>();
  const first = migrate({
    ...locked.migration,
    log: () => {
      attempts.first++;
      if (attempts.first === 1) isBlocked.resolve();
      if (attempts.first === 3) isBlockedAgain.resolve();
    },
  });
  await Promise.race([isBlocked.promise, first]);
  const second = migrate({ ...locked.migration, log: () => attempts.second++ });
  await Promise.race([isBlockedAgain.promise, first, second]);
  await locked.unlock();
  expect(await Promise.all([first, second])).toEqual(["current", "current"]);
  expect(attempts).toEqual({ first: 3, second: 0 });
});

test.concurrent("the commands of the guide build the indexes of searches, which the migration then keeps", async () => {
  await using opened = await openPostgresTestDatabase(server);
  const read = () =>
    opened.query("select indexname, indexdef from pg_indexes where tablename = 'users' order by indexname");
  const migrated = await read();
  await opened.query("drop index users_email_prefix, users_username_prefix");
  const guide = await Bun.file(join(ROOT, "docs/production.md")).text();
  const commands = [...guide.matchAll(/^create index concurrently .*;$/gm)].map(([command]) => command);
  expect(commands).toHaveLength(2);
  for (const command of commands) await opened.query(command);
  const file = join(import.meta.dir, "../../src/postgres/migrations/0011_search-indexes.sql");
  for (const statement of (await Bun.file(file).text()).split("--> statement-breakpoint"))
    await opened.query(statement);
  expect(await read()).toEqual(migrated);
});
