/** libsql is synchronous: another process's lock must cost a query its patience, and the event loop nothing. */

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite, spawnSqlite } from "@latchkey/testing/sqlite";
import { DatabaseUnavailable } from "../src/index.ts";
import { openReader } from "../src/libsql/client.ts";
import { openLibsqlScratch, spawnReplica } from "./libsql-scratch.ts";

setDefaultTimeout(30_000);

/** Another process that holds the write lock, or the whole file, until it is disposed. */
async function holdLock(url: string, action: "hold" | "hold-exclusively" = "hold"): Promise<AsyncDisposable> {
  const child = spawnSqlite(action, url);
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    [Symbol.asyncDispose]: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}

/** The longest time between two turns of the event loop while it ran for `durationMs`. */
async function longestBlock(durationMs: number): Promise<number> {
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

test("while another process holds the write lock for two seconds the loop turns, reads answer, and writes land afterwards", async () => {
  await using scratch = await openLibsqlScratch();
  const { todos, users, ping } = { ...scratch.database };
  const kept = await todos.create({ title: "kept", completed: false });
  let landed = 0;
  const writes: Promise<unknown>[] = [];
  {
    await using _lock = await holdLock(scratch.url);
    for (let index = 0; index < 100; index++) {
      const user = { email: `u${index}@example.org`, username: `u${index}`, hashedPassword: "s$d" };
      writes.push(users.create(user).then(() => landed++));
    }
    expect(await longestBlock(2_000)).toBeLessThan(100);
    expect(await todos.findById(kept.id)).toEqual(kept);
    await ping();
    expect(landed).toBe(0);
  }
  await Promise.all(writes);
  expect(await scratch.query("select count(*) as landed from users")).toEqual([{ landed: 100 }]);
});

test("a write that meets the lock for longer than its patience is unavailable, and changes nothing", async () => {
  await using scratch = await openLibsqlScratch({ patienceMs: 150 });
  {
    await using _lock = await holdLock(scratch.url);
    const failure = await scratch.database.todos
      .create({ title: "x", completed: false })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(failure.reason).toBe("SQLITE_BUSY");
  }
  expect(await scratch.database.todos.list({ after: 0, limit: 1 })).toEqual([]);
  expect(await scratch.database.todos.create({ title: "x", completed: false })).toMatchObject({ title: "x" });
});

test("a read that met a lock keeps no other process from writing afterwards", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "rollback-journal.db");
  await querySqlite(`file:${path}`, "create table numbers (value integer)");
  const reader = openReader(path);
  const count = async () => (await reader.execute("select count(*) from numbers")).rows[0]?.[0];
  expect(await count()).toBe(0);
  {
    await using _lock = await holdLock(`file:${path}`, "hold-exclusively");
    const failure = await count().catch((error) => error);
    expect(failure.code).toBe("SQLITE_BUSY");
  }
  expect(await count()).toBe(0);
  await querySqlite(`file:${path}`, "insert into numbers values (1)");
  expect(await count()).toBe(1);
  reader.close();
});

test("every write that two killed processes had acknowledged is there", async () => {
  await using scratch = await openLibsqlScratch();
  const acknowledgedBy = async () => {
    const child = spawnReplica("write", scratch.url);
    let output = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk;
      if (output.length > 1_000) child.kill("SIGKILL");
    }
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    return output.split("\n").slice(0, -1).map(Number);
  };
  const acknowledged = (await Promise.all([acknowledgedBy(), acknowledgedBy()])).flat();
  const kept = new Set(
    (await scratch.database.todos.list({ after: 0, limit: 100_000 })).map((todo) => todo.id),
  );
  expect(new Set(acknowledged).size).toBeGreaterThan(400);
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
});
