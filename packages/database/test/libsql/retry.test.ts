/** While another process holds the lock, queries wait up to the busy timeout and the event loop is not blocked. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { holdSqliteLock } from "@latchkey/testing/sqlite";
import { DatabaseUnavailable } from "../../src/index.ts";
import { openLibsqlTestDatabase } from "../support/libsql-database.ts";

setDefaultTimeout(30_000);

/** Returns the longest time that the event loop was blocked during `durationMs`, in milliseconds. */
async function measureLongestBlockMs(durationMs: number): Promise<number> {
  const end = performance.now() + durationMs;
  let longest = 0;
  for (let last = performance.now(); last < end; ) {
    await Bun.sleep(1);
    const next = performance.now();
    longest = Math.max(longest, next - last);
    last = next;
  }
  return longest;
}

test("while another process holds the write lock, the event loop runs and reads succeed; waiting writes succeed afterwards", async () => {
  await using testDatabase = await openLibsqlTestDatabase();
  const { todos, users, ping } = { ...testDatabase.database };
  const kept = await todos.create({ title: "kept", completed: false });
  let committed = 0;
  const writes: Promise<unknown>[] = [];
  {
    await using _lock = await holdSqliteLock(testDatabase.url);
    for (let index = 0; index < 100; index++) {
      const user = { email: `u${index}@example.org`, username: `u${index}`, hashedPassword: "s$d" };
      writes.push(users.create(user).then(() => committed++));
    }
    expect(await measureLongestBlockMs(1_000)).toBeLessThan(100);
    expect(await todos.findById(kept.id)).toEqual(kept);
    await ping();
    expect(committed).toBe(0);
  }
  await Promise.all(writes);
  expect(await testDatabase.query("select count(*) as committed from users")).toEqual([{ committed: 100 }]);
});

test("a write fails and changes nothing if the lock is held for longer than the busy timeout", async () => {
  await using testDatabase = await openLibsqlTestDatabase({ busyTimeoutMs: 150 });
  {
    await using _lock = await holdSqliteLock(testDatabase.url);
    const error = await testDatabase.database.todos
      .create({ title: "x", completed: false })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error.reason).toBe("SQLITE_BUSY");
  }
  expect(await testDatabase.database.todos.list({ after: 0, limit: 1 })).toEqual([]);
  expect(await testDatabase.database.todos.create({ title: "x", completed: false })).toMatchObject({
    title: "x",
  });
});

test("writes that wait in the queue share commits, at most two each, and other events are handled between two commits", async () => {
  await using testDatabase = await openLibsqlTestDatabase();
  const { todos } = testDatabase.database;
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

test("a write that fails does not affect the writes that share its commit, and all are applied in order", async () => {
  await using testDatabase = await openLibsqlTestDatabase();
  const { users } = testDatabase.database;
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
