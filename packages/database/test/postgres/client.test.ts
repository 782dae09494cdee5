/** While the server is faulty, calls fail in time; once the server recovers, calls succeed without a restart of the service. */
import { afterAll, expect, it } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { callers, type Database, DatabaseUnavailable } from "../../src/index.ts";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { createMigrated, hold, openPostgresTestDatabase } from "../support/postgres-database.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";
import { createTest, errorOf, type TestDatabase } from "../support/test-database.ts";

const MAX_CONNECTIONS = 14;
/** Of the test itself: one to the server and one to its database. */
const OWN_CONNECTIONS = 2;
/** Connections that only superusers can use. */
const RESERVED_CONNECTIONS = 3;

const server = await startPostgresServer({
  max_connections: String(MAX_CONNECTIONS),
  superuser_reserved_connections: String(RESERVED_CONNECTIONS),
  max_wal_senders: "0",
});
afterAll(() => server[Symbol.asyncDispose]());

const POOL_SIZE = 4;
const open = () => openPostgresTestDatabase(server, { poolSize: POOL_SIZE });
const test = createTest(open);
const todo = { title: "x", completed: false };

/** Makes every kind of call concurrently, twice as many as there are connections; returns the reasons of the errors. */
async function callAll({ users, todos }: Database) {
  const calls = [
    users.findById(1),
    users.findByEmail("ada@example.org"),
    users.create({
      email: `${crypto.randomUUID()}@example.org`,
      username: crypto.randomUUID(),
      hashedPassword: "s$d",
    }),
    users.update(1, { username: "other", hashedPassword: "s$d" }),
    todos.list({ after: 0, limit: 21 }),
    todos.create(todo),
    todos.update(1, { completed: true }),
    todos.delete(2),
  ];
  const outcomes = await Promise.allSettled(calls);
  const errors = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
  for (const error of errors) expect(error).toBeInstanceOf(DatabaseUnavailable);
  return { calls: calls.length, reasons: errors.map(({ reason }) => reason) };
}

/** Repeats the calls until all succeed. The time limit of the test ends it. */
async function untilRecovered(database: Database): Promise<void> {
  while ((await callAll(database)).reasons.length > 0) await Bun.sleep(20);
  await database.ping();
}

function connections({ query }: TestDatabase): Promise<{ pid: number }[]> {
  return query(
    "select pid from pg_stat_activity where application_name = 'latchkey' and datname = current_database()",
  );
}

it("on a frozen server, every call fails soon after its deadline, and a ping before; all succeed after the server resumes", async () => {
  const deadlineMs = 1_500;
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: POOL_SIZE, deadlineMs });
  const { database } = testDatabase;
  // A connection that is still being opened would not be frozen.
  while ((await connections(testDatabase)).length < POOL_SIZE) await callAll(database);
  {
    using _frozen = await server.freeze();
    const failures: unknown[] = [];
    const ping = database.ping().catch(({ reason }) => failures.push(`ping: ${reason}`));
    for (let round = 0; round < 2; round++) {
      const started = performance.now();
      const { calls, reasons } = await callAll(database);
      failures.push(reasons.length);
      expect(reasons).toHaveLength(calls);
      // Less than two deadlines: no call waits for another one.
      expect(performance.now() - started).toBeLessThan(2 * deadlineMs);
    }
    await ping;
    expect(failures[0]).toBe("ping: DEADLINE");
  }
  await untilRecovered(database);
});

test("after the server is killed, every call fails immediately; after its restart, all succeed and no acknowledged write is lost", async (testDatabase) => {
  const { database } = testDatabase;
  const acknowledged: number[] = [];
  const write = async (): Promise<void> => {
    for (;;) acknowledged.push((await database.todos.create(todo)).id);
  };
  const writers = Promise.allSettled([write(), write(), write(), write()]);
  while (acknowledged.length < 200) await Bun.sleep(1);
  await server.kill();
  for (const { status } of await writers) expect(status).toBe("rejected");
  const { calls, reasons } = await callAll(database);
  expect(reasons).toHaveLength(calls);
  expect(reasons).not.toContain("DEADLINE");
  await server.start();
  await untilRecovered(database);
  const kept = new Set((await database.todos.list({ after: 0, limit: 100_000 })).map(({ id }) => id));
  // `callAll` deletes the second one.
  expect(acknowledged.filter((id) => id !== 2 && !kept.has(id))).toEqual([]);
});

it("dead connections are replaced after the deadline, also if only pings use them", async () => {
  using proxy = await openTcpProxy([server.port]);
  const url = (await createMigrated(server)).replace(String(server.port), String(proxy.port));
  await using database = openPostgresDatabase({ url, poolSize: 2, deadlineMs: 500 });
  await database.migrate();
  await Promise.all([database.ping(), database.ping()]);
  proxy.cut();
  let pings = 0;
  const fails = async () => (await Promise.allSettled([database.ping()]))[0].status === "rejected";
  while (await fails()) pings++;
  expect(pings).toBeGreaterThan(0);
  expect(await database.todos.create(todo)).toMatchObject(todo);
});

test("while the server has no free connections, calls of a process fail immediately unless it has a connection", async ({
  database,
  url,
  reopen,
}) => {
  await database.ping();
  const free = MAX_CONNECTIONS - RESERVED_CONNECTIONS - OWN_CONNECTIONS - 1;
  await using greedy = new Bun.SQL(url, { max: free });
  await using starved = await reopen();
  {
    using reserved = new DisposableStack();
    for (let count = 0; count < free; count++) reserved.use(await greedy.reserve());
    for (let round = 0; round < 3; round++) expect((await callAll(database)).reasons).toEqual([]);
    const { calls, reasons } = await callAll(starved);
    expect(reasons).toEqual(Array(calls).fill("53300"));
  }
  await greedy.close();
  await untilRecovered(starved);
});

test("on a read-only server, writes fail, reads succeed, and the client reconnects to find the new primary", async (testDatabase) => {
  const { database } = testDatabase;
  await callAll(database);
  const before = await connections(testDatabase);
  await server.query("alter system set default_transaction_read_only = on");
  await server.query("select pg_reload_conf()");
  let error: DatabaseUnavailable | undefined;
  while (error === undefined) {
    await database.todos.create(todo).catch((reason) => {
      error = reason;
    });
  }
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect(error?.reason).toBe("25006");
  expect((await database.todos.list({ after: 0, limit: 1 })).length).toBe(1);
  await database.ping();
  await server.query("alter system reset default_transaction_read_only");
  await server.query("select pg_reload_conf()");
  await untilRecovered(database);
  const after = new Set((await connections(testDatabase)).map(({ pid }) => pid));
  expect(before.filter(({ pid }) => after.has(pid))).toEqual([]);
});

it("on a read-only server, many rejected writes cause at most one reconnection a second", async () => {
  using proxy = await openTcpProxy([server.port]);
  const url = await createMigrated(server);
  const through = url.replace(String(server.port), String(proxy.port));
  await using database = openPostgresDatabase({ url: through, poolSize: 1 });
  await database.migrate();
  await server.query(
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`,
  );
  await using readOnly = openPostgresDatabase({ url: through, poolSize: 1 });
  await readOnly.ping();
  const [opened, started] = [proxy.opened(), performance.now()];
  for (let write = 0; write < 20; write++)
    expect(await errorOf(readOnly.todos.create(todo))).toBeInstanceOf(DatabaseUnavailable);
  const seconds = Math.ceil((performance.now() - started) / 1_000);
  expect(proxy.opened() - opened).toBeWithin(1, seconds + 1);
});

it("a locked row makes only its own call fail and closes no connection", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 4, deadlineMs: 500 });
  const { database } = testDatabase;
  const { id } = await database.todos.create(todo);
  const before = await connections(testDatabase);
  await using holder = await hold(testDatabase, `update todos set title = 'mine' where id = ${id}`);
  const [update, read] = await Promise.allSettled([
    database.todos.update(id, { title: "yours" }),
    database.todos.findById(id),
  ]);
  expect(update).toMatchObject({ status: "rejected", reason: { reason: "57014" } });
  expect(read).toMatchObject({ status: "fulfilled", value: { title: "x" } });
  await holder.commit();
  expect(await database.todos.update(id, { title: "yours" })).toMatchObject({ title: "yours" });
  const after = new Set((await connections(testDatabase)).map(({ pid }) => pid));
  expect(before.filter(({ pid }) => !after.has(pid))).toEqual([]);
});

it("the writes of clients take turns for the connections, those of the service and all reads precede them", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 1 });
  const { todos } = testDatabase.database;
  const { id } = await todos.create(todo);
  const ended: string[] = [];
  const end = (name: string) => () => ended.push(name);
  const update = (name: string) => todos.update(id, { title: name }).then(end(name));
  const updateAs = (client: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      callers.run({ client, queriedMs: 0 }, () => update(`${client}${index}`)),
    );
  const updates = [...updateAs("a", 4), ...updateAs("b", 2), update("own")];
  await new Promise(setImmediate);
  await Promise.all([...updates, todos.findById(id).then(end("read"))]);
  // The first write starts at once.
  expect(ended).toEqual(["a0", "read", "own", "a1", "b0", "a2", "b1", "a3"]);
});

it("while the server refuses a connection of the pool, reads share the others and delay no write", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 2, deadlineMs: 1_000 });
  const { todos } = testDatabase.database;
  const { id } = await todos.create(todo);
  const name = new URL(testDatabase.url).pathname.slice(1);
  await testDatabase.query(`alter database "${name}" connection limit 1`);
  let isReading = true;
  const readers = Array.from({ length: 20 }, async () => {
    while (isReading) await todos.findById(id);
  });
  for (let write = 0; write < 5; write++)
    expect(await todos.update(id, { title: "yours" })).toMatchObject({ title: "yours" });
  isReading = false;
  await Promise.all(readers);
});

it("a write whose deadline passes before it has a connection never runs", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 1, deadlineMs: 300 });
  const { todos } = testDatabase.database;
  const { id } = await todos.create(todo);
  await using holder = await hold(testDatabase, `update todos set title = 'mine' where id = ${id}`);
  // The server ends the first one, and the second one then waits for the lock.
  const updates = [1, 2].map(() => todos.update(id, { title: "yours" }));
  const late = todos.create({ ...todo, title: "late" });
  const outcomes = await Promise.allSettled([...updates, late]);
  expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  await holder.commit();
  await todos.create({ ...todo, title: "next" });
  const created = await todos.list({ after: id, limit: 9 });
  expect(created.map(({ title }) => title)).toEqual(["next"]);
});

it("while statements wait for a locked row, all other calls share the remaining connection without delay", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 4 });
  const { todos } = testDatabase.database;
  const { id } = await todos.create(todo);
  await using holder = await hold(testDatabase, `update todos set title = 'mine' where id = ${id}`);
  const updates = Promise.all(Array.from({ length: 3 }, () => todos.update(id, { title: "yours" })));
  const blocked =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await testDatabase.query(blocked)).length < 3) await Bun.sleep(5);
  let areWaiting = true;
  void updates.finally(() => {
    areWaiting = false;
  });
  for (let round = 0; round < 3; round++)
    await Promise.all(Array.from({ length: 40 }, () => todos.list({ after: 0, limit: 21 })));
  expect(areWaiting).toBe(true);
  await holder.commit();
  expect(await updates).toMatchObject(Array(3).fill({ title: "yours" }));
});

it("a read that lost its connection is repeated, and a write, which can have been committed, is not", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 2 });
  const { todos } = testDatabase.database;
  const { id } = await todos.create(todo);
  await using holder = await hold(testDatabase, "lock table todos");
  const calls = Promise.allSettled([todos.findById(id), todos.create(todo)]);
  const waiting = "datname = current_database() and wait_event_type = 'Lock'";
  while ((await testDatabase.query(`select 1 from pg_stat_activity where ${waiting}`)).length < 2)
    await Bun.sleep(5);
  await testDatabase.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${waiting}`);
  await holder.commit();
  expect(await calls).toMatchObject([
    { status: "fulfilled", value: { id } },
    { status: "rejected", reason: { reason: "57P01", message: expect.stringContaining("terminated") } },
  ]);
  expect(await todos.list({ after: 0, limit: 9 })).toHaveLength(1);
});

it("a connection is replaced at the end of its life, without an error", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 2, maxLifeMs: 200 });
  const { todos, ping } = testDatabase.database;
  const pids = new Set<number>();
  while (pids.size <= 2) {
    await Promise.all([ping(), todos.list({ after: 0, limit: 1 })]);
    for (const { pid } of await connections(testDatabase)) pids.add(pid);
  }
});

it("two slow statements of one call, each within the deadline, succeed and close no connection", async () => {
  await using testDatabase = await openPostgresTestDatabase(server, { poolSize: 1, deadlineMs: 1_600 });
  const { users } = testDatabase.database;
  const { id } = await users.create({ email: "ada@example.org", username: "ada", hashedPassword: "s$d" });
  const before = await connections(testDatabase);
  await testDatabase.query(`
    create function pause() returns trigger language plpgsql as $$ begin perform pg_sleep(0.9); return null; end $$`);
  await testDatabase.query(
    "create trigger pause before insert or delete on user_networks execute function pause()",
  );
  await users.storeNetwork(id, "one");
  expect(await connections(testDatabase)).toEqual(before);
});
