/** Events under concurrent changes, after a migration that replaces the table of users, and for other roles of PostgreSQL. */
import { expect, test } from "bun:test";
import { parsePostgresUrl } from "@latchkey/contracts";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import type { AccountEvent, Database, EventRepository } from "../../src/index.ts";
import { openClient as openLibsqlClient } from "../../src/libsql/client.ts";
import { dialect as libsql } from "../../src/libsql/dialect.ts";
import { openClient as openPostgresClient } from "../../src/postgres/client.ts";
import { dialect as postgres } from "../../src/postgres/dialect.ts";
import { createEventRepository } from "../../src/repositories/events.ts";
import { migrateWithExtra } from "../support/extra-migration.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { hold, openPostgresTestDatabase } from "../support/postgres-database.ts";
import { ada, errorOf, type TestDatabase } from "../support/test-database.ts";

const server = await sharedPostgresServer();

const OPEN: Readonly<Record<string, () => Promise<TestDatabase>>> = {
  // As long as twenty writers take turns on a machine with other work.
  libsql: () => openLibsqlTestDatabase({ busyTimeoutMs: 60_000 }),
  postgres: () => openPostgresTestDatabase(server),
};
const KINDS = Object.keys(OPEN);
const open = (kind: string) => (OPEN[kind] ?? openLibsqlTestDatabase)();

const CHANGES = 200;
const WRITERS = 20;
const isRolledBack = (index: number) => index % 10 === 0;
const nameOf = (index: number) => `user ${index}`;

/** Creates a user for each number, or begins to. The transactions of PostgreSQL end in another order than they took their ids. */
async function write(kind: string, { url, reopen }: TestDatabase, indexes: readonly number[]) {
  if (kind === "libsql") {
    await using database = await reopen();
    for (const index of indexes) {
      const user = {
        ...ada,
        email: isRolledBack(index) ? ada.email : nameOf(index),
        username: nameOf(index),
      };
      expect(await errorOf(database.users.create(user)).then((error) => error !== null)).toBe(
        isRolledBack(index),
      );
    }
    return;
  }
  await using client = new Bun.SQL(url, { max: 1 });
  for (const index of indexes) {
    const insert = `insert into users (email, username, hashed_password) values ('${index}', '${nameOf(index)}', '')`;
    const end = isRolledBack(index) ? "rollback" : "commit";
    await client.unsafe(`begin; ${insert}; select pg_sleep(random() * 0.1); ${end}`).simple();
  }
}

const readTypes = async (events: EventRepository) =>
  (await events.read({ after: null, limit: 9 }))?.items.map(({ type }) => type);

/** Reads pages until it has read all after `isOver`. */
async function follow({ events }: Database, isOver: () => boolean): Promise<AccountEvent[]> {
  const found: AccountEvent[] = [];
  for (let after = 0; ; ) {
    const isLast = isOver();
    const page = await events.read({ after, limit: 7 });
    expect(page?.isExpired).toBe(false);
    found.push(...(page?.items ?? []));
    after = page?.lastPosition ?? after;
    if (isLast && page?.items.length === 0) return found;
    await new Promise(setImmediate);
  }
}

test.each(KINDS)(
  "on %s, two readers that page during 200 concurrent changes get each committed one once, in one order",
  async (kind) => {
    await using testDatabase = await open(kind);
    const { database, query, reopen } = testDatabase;
    await database.users.create(ada);
    await database.events.enable(30);
    await using second = await reopen();
    let isOver = false;
    const readers = [database, second].map((one) => follow(one, () => isOver));
    const numbers = Array.from({ length: CHANGES }, (_, index) => index);
    await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) =>
        write(
          kind,
          testDatabase,
          numbers.filter((index) => index % WRITERS === writer),
        ),
      ),
    );
    isOver = true;
    const [found = [], again] = await Promise.all(readers);
    expect(again).toEqual(found);
    expect(found.map(({ position }) => position)).toEqual(found.map((_, index) => index + 1));
    const created = await query<{ id: number }>(`select id from users where username <> '${ada.username}'`);
    expect(created).toHaveLength(CHANGES - numbers.filter(isRolledBack).length);
    const ids = found.map(({ userId }) => userId ?? 0).sort((a, b) => a - b);
    expect(ids).toEqual(created.map(({ id }) => Number(id)).sort((a, b) => a - b));
  },
);

/** The repository of a session whose next query outside of a transaction waits for `interrupt`. */
async function openInterrupted(kind: string, { url }: TestDatabase, interrupt: () => Promise<unknown>) {
  const [client, dialect] =
    kind === "libsql"
      ? [await openLibsqlClient(url.slice("file:".length), 4_000), libsql]
      : [
          openPostgresClient({
            ...{ address: parsePostgresUrl(url), size: 2, deadlineMs: 4_000 },
            preparedStatements: { mode: "false" },
          }),
          postgres,
        ];
  let isInterrupted = false;
  const run: typeof client.run = async (query) => {
    if (!isInterrupted) {
      isInterrupted = true;
      await interrupt();
    }
    return client.run(query);
  };
  return {
    ...createEventRepository({ ...client, run }, dialect),
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

test.each(KINDS)(
  "on %s, an operator who turns events off or on deletes none of those that another one records meanwhile",
  async (kind) => {
    await using testDatabase = await open(kind);
    const { users, events } = testDatabase.database;
    let count = 0;
    const turnOn = async () => {
      await events.enable(30);
      await users.create({ ...ada, email: `${++count}`, username: `${count}` });
    };
    await turnOn();
    await using off = await openInterrupted(kind, testDatabase, turnOn);
    await off.disable();
    expect(await readTypes(events)).toEqual(["user.created"]);
    await events.disable();
    await using on = await openInterrupted(kind, testDatabase, turnOn);
    await on.enable(7);
    expect(await readTypes(events)).toEqual(["user.created"]);
  },
);

const REPLACE_USERS: Readonly<Record<string, readonly string[]>> = {
  libsql: [
    "create table new_users as select * from users where false",
    "drop table users",
    "alter table new_users rename to users",
    "create table new_events as select * from events where false",
    "drop table events",
    "alter table new_events rename to events",
  ],
  postgres: [
    "create table new_users (like users including all)",
    "drop table users cascade",
    "alter table new_users rename to users",
  ],
};

test.each(KINDS)(
  "on %s, a migration that replaces the table of users keeps its changes recorded",
  async (kind) => {
    await using testDatabase = await open(kind);
    const { database, query, url } = testDatabase;
    await database.events.enable(30);
    await migrateWithExtra(url, { oldestRelease: null, statements: REPLACE_USERS[kind] ?? [] });
    const values =
      "(id, email, username, hashed_password, is_active, token_version) values (7, 'a', 'a', '', ";
    await query(`insert into users ${values} ${kind === "libsql" ? 1 : true}, 0)`);
    await query("update users set username = 'b'");
    await query("delete from users");
    const recorded = await query<{ type: string }>("select type from events");
    expect(recorded.map(({ type }) => type)).toEqual(["user.created", "user.updated", "user.deleted"]);
  },
);

test("a role of PostgreSQL that can only change users writes events, whatever its search path finds first", async () => {
  await using testDatabase = await openPostgresTestDatabase(server);
  const { database, query, url } = testDatabase;
  await database.users.create(ada);
  await database.events.enable(30);
  await query("create role support; grant select, update on users to support");
  await query(`create schema decoy; grant usage on schema decoy to public;
    create table decoy.events (like public.events); create table decoy.events_state (like public.events_state);
    create function decoy.fail(text, text) returns boolean language sql as 'select 1 / 0 = 1';
    create operator decoy.<> (leftarg = text, rightarg = text, function = decoy.fail);
    create operator decoy.= (leftarg = text, rightarg = text, function = decoy.fail)`);
  await using client = new Bun.SQL(url, { username: "postgres", password: "postgres", max: 1 });
  await client
    .unsafe(
      "begin; set local role support; set local search_path = decoy, pg_catalog; update public.users set is_active = false; commit",
    )
    .simple();
  const page = await database.events.read({ after: null, limit: 9 });
  expect(page?.items.map(({ changed }) => changed)).toEqual([["is_active"]]);
});

test("while nothing is recorded, PostgreSQL calls no trigger of users, whoever switches the recording", async () => {
  await using testDatabase = await openPostgresTestDatabase(server);
  const { database, query, url } = testDatabase;
  const countEnabled = async () =>
    (await query("select from pg_trigger where tgname like 'users_event_%' and tgenabled <> 'D'")).length;
  expect(await countEnabled()).toBe(0);
  await database.events.enable(30);
  expect(await countEnabled()).toBe(3);
  await database.events.disable();
  expect(await countEnabled()).toBe(0);
  await query("create role operator; grant select, update on events_state to operator");
  await using client = new Bun.SQL(url, { username: "postgres", password: "postgres", max: 1 });
  await client.unsafe("begin; set local role operator; update events_state set days = 7; commit").simple();
  expect(await countEnabled()).toBe(3);
  // As logical replication does.
  await client.unsafe("set session_replication_role = replica; update events_state set days = null").simple();
  expect(await countEnabled()).toBe(0);
  await migrateWithExtra(url, { oldestRelease: null });
  expect(await countEnabled()).toBe(0);
});

test("recording does not begin before the changes that it would miss are committed", async () => {
  await using testDatabase = await openPostgresTestDatabase(server);
  const { events, users } = testDatabase.database;
  await using change = await hold(
    testDatabase,
    "insert into users (email, username, hashed_password) values ('b', 'b', '')",
  );
  expect(await errorOf(events.enable(30))).toMatchObject({ reason: "55P03" });
  expect(await events.getState()).toBeNull();
  await change.commit();
  await events.enable(30);
  await users.create(ada);
  expect((await events.read({ after: null, limit: 9 }))?.items).toHaveLength(1);
});
