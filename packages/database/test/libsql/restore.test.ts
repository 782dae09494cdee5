/** A restore never leaves a file with the ids and token versions of the backup: it changes the copy first, and then moves it. */
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite } from "@latchkey/testing/sqlite";
import { backUpFile, openDatabase, restoreFile } from "../../src/index.ts";

interface State {
  readonly username: string;
  readonly version: number;
  /** The highest id that was used. */
  readonly lastId: number;
}

/** libsql keeps the lock of a closed connection until a statement is garbage collected. */
const releaseLocks = () => Bun.gc(true);

/** The state of the newest user. */
async function readState(path: string): Promise<State | undefined> {
  releaseLocks();
  const lastId = "(select seq from sqlite_sequence where name = 'users')";
  const newest = "from users order by id desc limit 1";
  const columns = `username, token_version as version, ${lastId} as lastId`;
  return (await querySqlite<State>(`file:${path}`, `select ${columns} ${newest}`))[0];
}

test("a replaced file that is older than the backup in one table does not tell which ids were used, but its higher ones are not used again", async () => {
  await using folder = await openFolder();
  const [path, copy] = [join(folder.path, "latchkey.db"), join(folder.path, "copy.db")];
  const database = await openDatabase({ url: folder.databaseUrl });
  await database.migrate();
  await database.users.create({ email: "ada@example.com", username: "ada", hashedPassword: "salt$digest" });
  await database.todos.create({ title: "kept", completed: false });
  await backUpFile(path, copy);
  await database.close();
  releaseLocks();
  for (const table of ["todos", "sqlite_sequence where name = 'todos'"])
    await querySqlite(folder.databaseUrl, `delete from ${table}`);
  await querySqlite(folder.databaseUrl, "update sqlite_sequence set seq = 5000000 where name = 'users'");
  const lastIds = await restoreFile(path, copy, { withoutPasskeys: false, prepare: async () => {} });
  expect(lastIds).toMatchObject({ users: 5_000_000, todos: 1_000_001 });
});

test("a restore that ends before the move leaves the replaced file, and moves a file with raised ids and versions", async () => {
  await using folder = await openFolder();
  const [path, copy] = [join(folder.path, "latchkey.db"), join(folder.path, "copy.db")];
  const database = await openDatabase({ url: folder.databaseUrl });
  await database.migrate();
  const addUser = (username: string) =>
    database.users.create({ email: `${username}@example.com`, username, hashedPassword: "salt$digest" });
  await addUser("ada");
  await backUpFile(path, copy);
  await addUser("bob");
  await database.close();
  releaseLocks();
  const crash = () => Promise.reject(new Error("crash"));
  await expect(restoreFile(path, copy, { withoutPasskeys: false, prepare: crash })).rejects.toThrow("crash");
  expect(await readState(path)).toEqual({ username: "bob", version: 0, lastId: 2 });
  const raised = await readState(copy);
  expect(raised).toMatchObject({ username: "ada", lastId: 2 });
  expect(raised?.version).toBeGreaterThan(0);
  const { ino } = statSync(copy);
  await restoreFile(path, copy, { withoutPasskeys: false, prepare: async () => {} });
  // The same file: it was moved, not copied.
  expect(statSync(path).ino).toBe(ino);
  expect((await readState(path))?.version).toBeGreaterThan(raised?.version ?? 0);
});
