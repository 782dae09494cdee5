/** Writes wait for locks of other processes without blocking the event loop, have a deadline, and take turns by client. */
import { expect, it } from "bun:test";
import { holdSqliteLock } from "@latchkey/testing/sqlite";
import { callers, type Database, DatabaseUnavailable } from "../../src/index.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";
import { createTest } from "../support/test-database.ts";

const test = createTest(openLibsqlTestDatabase);

const createTodos = ({ todos }: Database, client: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    callers.run({ client, queriedMs: 0 }, () =>
      todos.create({ title: `${client}${index}`, completed: false }),
    ),
  );

/** Returns the reason for which the promise is rejected. */
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "none",
    (error) => (error instanceof DatabaseUnavailable ? error.reason : String(error)),
  );

const titles = async ({ todos }: Database) =>
  (await todos.list({ after: 0, limit: 10_000 })).map(({ title }) => title);

test("writes that wait in the queue share commits, at most two each, and other events are handled between two commits", async (testDatabase) => {
  const { todos } = testDatabase;
  let committed = 0;
  const seen = [0];
  const writes = Array.from({ length: 64 }, () =>
    todos.create({ title: "x", completed: false }).then(() => committed++),
  );
  const observe = () => {
    if (seen.at(-1) !== committed) seen.push(committed);
    if (committed < writes.length) setImmediate(observe);
  };
  observe();
  await Promise.all(writes);
  const groups = seen.slice(1).map((count, index) => count - (seen[index] ?? 0));
  expect(Math.max(...groups)).toBe(2);
  expect(groups.length).toBeLessThanOrEqual(33);
});

test("a write that fails does not affect the writes that share its commit, and all are applied in order", async (testDatabase) => {
  const { users } = testDatabase;
  const names = ["a", "b", "a", "c", "b", "d", "e", "f", "e", "g"];
  const results = await Promise.allSettled(
    names.map((name) =>
      users.create({ email: `${name}@example.org`, username: name, hashedPassword: "s$d" }),
    ),
  );
  const outcomes = results.map((result) =>
    result.status === "fulfilled" ? result.value.username : result.reason.name,
  );
  const conflict = "UserAlreadyExists";
  expect(outcomes).toEqual(["a", "b", conflict, "c", conflict, "d", "e", "f", conflict, "g"]);
  const stored = await users.list({ after: 0, limit: 100 });
  expect(stored.map(({ username }) => username)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

test("clients take turns, and the writes of each are applied in order", async ({ database }) => {
  const writes = [["a", 4] as const, ["b", 2] as const, ["c", 1] as const].flatMap(([client, count]) =>
    createTodos(database, client, count),
  );
  await Promise.all(writes);
  // The first write starts at once.
  expect(await titles(database)).toEqual(["a0", "a1", "b0", "c0", "a2", "b1", "a3"]);
});

it("a write whose deadline passes before it runs is rejected and never runs", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 50 });
  const { database } = testDatabase;
  const writes = createTodos(database, "a", 10);
  Bun.sleepSync(60);
  const [first, ...others] = await Promise.all(writes.map(reasonOf));
  expect(first).toBe("none");
  expect(new Set(others)).toEqual(new Set(["WRITE_QUEUE_TIMEOUT"]));
  await Promise.all(createTodos(database, "b", 1));
  // The first write runs at once.
  expect(await titles(database)).toEqual(["a0", "b0"]);
});

it("all writes behind a backlog on a locked file are rejected at their deadline, and a ping succeeds meanwhile", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 500 });
  const { database } = testDatabase;
  {
    await using _lock = await holdSqliteLock(testDatabase.url);
    const sentAt = performance.now();
    const reasons = ["a", "b", "c"].flatMap((client) => createTodos(database, client, 400).map(reasonOf));
    await database.ping();
    expect(new Set(await Promise.all(reasons))).toEqual(new Set(["SQLITE_BUSY"]));
    expect(performance.now() - sentAt).toBeLessThan(1_500);
  }
  await Promise.all(createTodos(database, "d", 1));
  expect(await titles(database)).toEqual(["d0"]);
});

it("the queries of one caller share the timeout", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 300 });
  const { todos } = testDatabase.database;
  const create = () => reasonOf(todos.create({ title: "x", completed: false }));
  await using _lock = await holdSqliteLock(testDatabase.url);
  await callers.run({ client: "a", queriedMs: 0 }, async () => {
    expect(await create()).toBe("SQLITE_BUSY");
    const sentAt = performance.now();
    expect(await create()).toBe("SQLITE_BUSY");
    expect(performance.now() - sentAt).toBeLessThan(300);
    expect(await todos.list({ after: 0, limit: 1 })).toEqual([]);
  });
});

it("of more than a thousand waiting writes, those of the client with the most are rejected", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 3_000 });
  const { database } = testDatabase;
  const lock = await holdSqliteLock(testDatabase.url);
  const early = createTodos(database, "c", 10);
  const flood = createTodos(database, "a", 1_500).map(reasonOf);
  const others = [...early, ...createTodos(database, "b", 10)];
  await lock[Symbol.asyncDispose]();
  await Promise.all(others);
  const written = (await Promise.all(flood)).filter((reason) => reason === "none").length;
  expect(written).toBeGreaterThan(0);
  // The write that was tried while the lock was held does not wait.
  expect(written + others.length).toBeLessThanOrEqual(1_001);
});

it("writes that were rejected at their deadline take no place in the queue", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 3_000 });
  const { database } = testDatabase;
  const lock = await holdSqliteLock(testDatabase.url);
  const first = createTodos(database, "a", 1);
  // Each has 50 ms left.
  const expired = Array.from({ length: 1_000 }, (_, index) =>
    callers.run({ client: `b${index}`, queriedMs: 2_950 }, () =>
      reasonOf(database.todos.create({ title: "b", completed: false })),
    ),
  );
  await Promise.all(expired);
  const last = createTodos(database, "c", 1);
  await lock[Symbol.asyncDispose]();
  await Promise.all([...first, ...last]);
  expect(await titles(database)).toEqual(["a0", "c0"]);
});
