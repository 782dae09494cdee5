/** A sick server costs errors, never hangs, and nothing but its own recovery is needed to be well again. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { type Database, DatabaseUnavailable, openDatabase } from "../src/index.ts";
import { openPostgresDatabase } from "../src/postgres/database.ts";
import { openPostgresScratch, type PostgresScratch } from "./postgres-scratch.ts";
import { openTcpProxy } from "./tcp-proxy.ts";

setDefaultTimeout(30_000);

const maxConnections = 12;
/** The last ones are not for the account that the databases belong to. */
const reservedConnections = 3;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer({
    max_connections: String(maxConnections),
    superuser_reserved_connections: String(reservedConnections),
    max_wal_senders: "0",
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const open = () => openPostgresScratch(server, { poolSize: 4 });
const todo = { title: "x", completed: false };

/** Every kind of call, twice as many at once as there are connections; how each ended, and how long the slowest took. */
async function callAll({ users, todos }: Database) {
  const started = performance.now();
  const calls = [
    users.findById(1),
    users.findByEmail("ada@example.org"),
    users.create({
      email: `${crypto.randomUUID()}@example.org`,
      username: crypto.randomUUID(),
      hashedPassword: "s$d",
    }),
    users.update(1, { username: "other" }),
    todos.list({ after: 0, limit: 21 }),
    todos.create(todo),
    todos.update(1, { completed: true }),
    todos.delete(2),
  ];
  const outcomes = await Promise.allSettled(calls);
  const failures = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
  for (const failure of failures) expect(failure).toBeInstanceOf(DatabaseUnavailable);
  return { calls: calls.length, failures, elapsedMs: performance.now() - started };
}

/** Calls until all of them succeed again, and says how long that took. */
async function recovery(database: Database): Promise<number> {
  const started = performance.now();
  while ((await callAll(database)).failures.length > 0) {
    if (performance.now() - started > 10_000) throw new Error("It did not recover within ten seconds.");
    await Bun.sleep(20);
  }
  await database.ping();
  return performance.now() - started;
}

function connections({ query }: PostgresScratch): Promise<{ pid: number }[]> {
  return query(
    "select pid from pg_stat_activity where application_name = 'latchkey' and datname = current_database()",
  );
}

test("frozen: every call ends within five seconds, a ping within one, and all is well soon after the thaw", async () => {
  await using scratch = await open();
  const { database } = scratch;
  await callAll(database);
  {
    using _frozen = await server.freeze();
    const started = performance.now();
    const ping = database.ping().catch((error) => ({ error, elapsedMs: performance.now() - started }));
    for (let round = 0; round < 2; round++) {
      const { calls, failures, elapsedMs } = await callAll(database);
      expect(failures).toHaveLength(calls);
      expect(elapsedMs).toBeLessThan(4_900);
    }
    expect((await ping)?.error.reason).toBe("DEADLINE");
    expect((await ping)?.elapsedMs).toBeLessThan(1_500);
  }
  expect(await recovery(database)).toBeLessThan(5_000);
});

test("killed: every call fails at once, and all is well soon after the restart with every acknowledged write", async () => {
  await using scratch = await open();
  const { database } = scratch;
  const acknowledged: number[] = [];
  const write = async (): Promise<void> => {
    for (;;) acknowledged.push((await database.todos.create(todo)).id);
  };
  const writers = Promise.allSettled([write(), write(), write(), write()]);
  while (acknowledged.length < 200) await Bun.sleep(1);
  await server.kill();
  for (const { status } of await writers) expect(status).toBe("rejected");
  const { calls, failures, elapsedMs } = await callAll(database);
  expect(failures).toHaveLength(calls);
  expect(elapsedMs).toBeLessThan(1_000);
  await server.start();
  expect(await recovery(database)).toBeLessThan(5_000);
  const kept = new Set((await database.todos.list({ after: 0, limit: 100_000 })).map(({ id }) => id));
  // The second one was deleted on purpose: see callAll.
  expect(acknowledged.filter((id) => id !== 2 && !kept.has(id))).toEqual([]);
});

test("connections cut by the server: those calls fail, the next ones succeed", async () => {
  await using scratch = await open();
  for (let round = 0; round < 5; round++) {
    const calls = callAll(scratch.database);
    await scratch.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'latchkey' and datname = current_database()`);
    await calls;
    expect(await recovery(scratch.database)).toBeLessThan(1_000);
  }
});

test("connections that lead nowhere are given up after the deadline, also when only pings use them", async () => {
  using proxy = await openTcpProxy(server.port);
  const url = (await server.createDatabase()).replace(String(server.port), String(proxy.port));
  await using database = openPostgresDatabase({ url, poolSize: 2, deadlineMs: 1_500 });
  await database.migrate();
  await Promise.all([database.ping(), database.ping()]);
  proxy.cut();
  const started = performance.now();
  let pings = 0;
  while (
    await database.ping().then(
      () => false,
      () => true,
    )
  )
    pings++;
  expect(pings).toBeGreaterThan(0);
  expect(performance.now() - started).toBeLessThan(4_000);
  expect(await database.todos.create(todo)).toMatchObject(todo);
});

test("no connection left: calls fail at once until there is one", async () => {
  await using scratch = await open();
  await using full = await openDatabase({ url: scratch.url, poolSize: maxConnections });
  // A pool whose first connections are quick enough opens no further ones.
  while ((await connections(scratch)).length < maxConnections - reservedConnections) {
    const busy = Array.from({ length: maxConnections * 3 }, () => full.todos.create(todo));
    await Promise.allSettled(busy);
  }
  await using fresh = await scratch.reopen();
  const { failures, elapsedMs } = await callAll(fresh);
  expect(elapsedMs).toBeLessThan(1_000);
  expect(failures.map(({ reason }) => reason)).toContain("53300");
  await full.close();
  expect(await recovery(fresh)).toBeLessThan(5_000);
});

test("a failover leaves the server read-only: writes fail, reads work, and new connections are made to find the primary", async () => {
  await using scratch = await open();
  const { database } = scratch;
  await callAll(database);
  const before = await connections(scratch);
  await server.query("alter system set default_transaction_read_only = on");
  await server.query("select pg_reload_conf()");
  let failure: DatabaseUnavailable | undefined;
  while (failure === undefined) {
    await database.todos.create(todo).catch((error) => {
      failure = error;
    });
  }
  expect(failure).toBeInstanceOf(DatabaseUnavailable);
  expect(failure?.reason).toBe("25006");
  expect((await database.todos.list({ after: 0, limit: 1 })).length).toBe(1);
  await database.ping();
  await server.query("alter system reset default_transaction_read_only");
  await server.query("select pg_reload_conf()");
  expect(await recovery(database)).toBeLessThan(5_000);
  const after = new Set((await connections(scratch)).map(({ pid }) => pid));
  expect(before.filter(({ pid }) => after.has(pid))).toEqual([]);
});

test("a row that somebody else has locked costs its own call, and no connection", async () => {
  await using scratch = await openPostgresScratch(server, { poolSize: 4, deadlineMs: 1_000 });
  const { database } = scratch;
  const { id } = await database.todos.create(todo);
  const before = await connections(scratch);
  await using other = new Bun.SQL(scratch.url, { max: 1 });
  await using holder = await other.reserve();
  await holder.unsafe(`begin; update todos set title = 'mine' where id = ${id}`).simple();
  const [update, read] = await Promise.allSettled([
    database.todos.update(id, { title: "yours" }),
    database.todos.findById(id),
  ]);
  expect(update).toMatchObject({ status: "rejected", reason: { reason: "57014" } });
  expect(read).toMatchObject({ status: "fulfilled", value: { title: "x" } });
  await holder.unsafe("rollback").simple();
  expect(await database.todos.update(id, { title: "yours" })).toMatchObject({ title: "yours" });
  const after = new Set((await connections(scratch)).map(({ pid }) => pid));
  expect(before.filter(({ pid }) => !after.has(pid))).toEqual([]);
});

test("a full disk is unavailable for writing and readable", async () => {
  await using scratch = await open();
  const { database } = scratch;
  await scratch.execute(`
    create function fill() returns trigger language plpgsql as
    $$ begin raise exception using errcode = '53100', message = 'could not extend file: No space left on device'; end $$`);
  await scratch.execute("create trigger fill before insert on todos execute function fill()");
  const failure = await database.todos.create(todo).catch((error) => error);
  expect(failure).toBeInstanceOf(DatabaseUnavailable);
  expect(failure.reason).toBe("53100");
  expect(await database.todos.list({ after: 0, limit: 1 })).toEqual([]);
});
