/** `backup` and `restore`, while another process uses the database as the service does, and while none does. */
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite } from "@latchkey/testing/sqlite";
import { expectSentence, MAIN, readAlone, runTool, runToolAlone, startTool } from "../support/tool.ts";

const EMAIL = "ada@example.com";

/** A folder with the database `latchkey.db`, which has one user. */
async function openFixture() {
  const folder = await openFolder();
  const path = join(folder.path, "latchkey.db");
  const url = folder.databaseUrl;
  const tool = (args: readonly string[], env: Record<string, string> = {}, input: string | Uint8Array = "") =>
    runToolAlone(args, { env: { DATABASE_URL: url, ...env }, input });
  await tool(["migrate"]);
  const user = { email: EMAIL, username: "ada", password_hash: null };
  await tool(["users", "import", "-", "--commit"], {}, JSON.stringify(user));
  return {
    path,
    url,
    tool,
    file: (name: string) => join(folder.path, name),
    list: () => readdirSync(folder.path).sort(),
    sql: (statement: string) => querySqlite<Record<string, unknown>>(url, statement),
    username: () => readAlone(url, async ({ users }) => (await users.findByEmail(EMAIL))?.username),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("a backup of a database in use is complete, and a restore returns to its state", async () => {
  await using fixture = await openFixture();
  const backup = fixture.file("backup.db");
  const service = await openDatabase({ url: fixture.url });
  // Not yet in the database's own file.
  await service.users.update(1, { username: "grace" });
  const env = { DATABASE_URL: fixture.url };
  expect(await runTool(["backup", backup], { env })).toMatchObject({ code: 0, stderr: "" });
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  await service.users.update(1, { username: "joan" });
  await service.close();
  await Bun.write(fixture.file("auth-secret-key"), "generated");
  expect(await fixture.tool(["restore", backup])).toMatchObject({ code: 64 });
  const restored = await fixture.tool(["restore", backup, "--force"]);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining("all users log in again") });
  // The generated signing key and all files of the replaced database are gone.
  expect(fixture.list()).toEqual(["backup.db", "latchkey.db"]);
  expect(statSync(fixture.path).mode & 0o777).toBe(0o600);
  expect(await fixture.username()).toBe("grace");
});

test("a restore begins another epoch of events, and gives no position of the replaced database again", async () => {
  await using fixture = await openFixture();
  const { file, path, tool, sql, url } = fixture;
  const read = () => readAlone(url, ({ events }) => events.read({ after: null, limit: 9 }));
  expect((await tool(["events", "on"])).code).toBe(0);
  await sql("update users set username = 'grace'");
  const before = await read();
  expect((await tool(["backup", file("backup.db")])).code).toBe(0);
  for (const name of ["joan", "mary"]) await sql(`update users set username = '${name}'`);
  const replaced = await read();
  expect(replaced).toMatchObject({ epoch: before?.epoch, lastPosition: 3 });
  const restore = async () => {
    expect((await tool(["restore", file("backup.db"), "--force"])).code).toBe(0);
    return read();
  };
  const restored = await restore();
  const [kept, event] = restored?.items ?? [];
  expect([kept, restored?.items.length]).toEqual([before?.items[0], 2]);
  expect(event).toMatchObject({ position: 4, type: "database.restored" });
  expect(restored?.epoch).not.toBe(before?.epoch);
  await Bun.file(path).delete();
  expect((await restore())?.lastPosition).toBeGreaterThan(1_000_000);
});

test("a restore assigns no id of the replaced database again, and without that database continues a million ids later", async () => {
  await using fixture = await openFixture();
  const { file, path, tool, sql } = fixture;
  const backup = file("backup.db");
  await sql("INSERT INTO todos (title) VALUES ('kept')");
  expect((await tool(["backup", backup])).code).toBe(0);
  // The ids 2 and 3 were used after the backup.
  await sql("INSERT INTO users (email, username, hashed_password) VALUES ('b', 'b', ''), ('c', 'c', '')");
  await sql("INSERT INTO todos (title) VALUES ('lost')");
  await sql("DELETE FROM users WHERE username = 'c'");
  const restore = async (nextUser: number, nextTodo: number) => {
    const { code, stdout } = await tool(["restore", backup, "--force"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`ids above ${nextUser - 1}, new todos above`),
    ]);
    const [user] = await sql(
      "INSERT INTO users (email, username, hashed_password) VALUES ('d', 'd', '') RETURNING id",
    );
    const [todo] = await sql("INSERT INTO todos (title) VALUES ('new') RETURNING id");
    expect([user, todo]).toEqual([{ id: nextUser }, { id: nextTodo }]);
  };
  await restore(4, 3);
  await restore(5, 4);
  await Bun.file(path).delete();
  await restore(1_000_002, 1_000_002);
  // Another database, such as that of a new installation, does not tell which ids were used.
  await Bun.file(path).delete();
  await tool(["migrate"]);
  await restore(1_000_002, 1_000_002);
  await Bun.file(path).delete();
  await tool(["migrate"]);
  await sql("INSERT INTO users (email, username, hashed_password) VALUES ('e', 'e', ''), ('f', 'f', '')");
  await sql("INSERT INTO todos (title) VALUES ('e'), ('f')");
  await restore(1_000_002, 1_000_002);
  await Bun.write(path, "damaged ".repeat(1000));
  await restore(1_000_002, 1_000_002);
  // As in the databases of earlier releases, whose files do not tell either.
  await sql("DELETE FROM digest_keys");
  await sql("DELETE FROM users WHERE username = 'd'");
  await tool(["backup", backup, "--force"]);
  await restore(2_000_003, 2_000_003);
});

test("a restore revokes all tokens, also the kept ones, and deletes passkeys only if asked to", async () => {
  await using fixture = await openFixture();
  const { file, tool, sql } = fixture;
  const backup = file("backup.db");
  await sql("INSERT INTO users (email, username, hashed_password, token_version) VALUES ('b', 'b', '', 7)");
  await sql("UPDATE users SET password_change_token_id = 'kept'");
  await sql(
    "INSERT INTO passkeys (credential_id, user_id, public_key, counter, name) VALUES ('one', 1, 'key', 0, 'Phone')",
  );
  const columns =
    "SELECT token_version AS version, password_change_token_id AS kept, passkey_revision AS revision FROM users";
  const before = await sql(columns);
  await tool(["backup", backup]);
  for (const isKept of [true, false]) {
    const options = isKept ? [] : ["--without-passkeys"];
    expect((await tool(["restore", backup, "--force", ...options])).code).toBe(0);
    const after = await sql(columns);
    expect(after).toHaveLength(2);
    for (const [index, { version, kept, revision }] of after.entries()) {
      expect(Number(version) - Number(before[index]?.version)).toBeWithin(1, 2 ** 20 + 1);
      expect([kept, revision]).toEqual([null, isKept ? 0 : 1]);
    }
    expect(await sql("SELECT * FROM passkeys")).toHaveLength(isKept ? 1 : 0);
  }
});

test("a restore that is killed leaves the replaced database, and can be repeated", async () => {
  await using fixture = await openFixture();
  const { file, list, sql, tool, url } = fixture;
  const backup = file("backup.db");
  // Large enough that the copy is on the disk before the restore has finished.
  await sql(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO users (email, username, hashed_password) SELECT i, i, 'salt$digest' FROM n`);
  await tool(["backup", backup]);
  await sql("UPDATE users SET username = 'grace' WHERE id = 1");
  await sql("INSERT INTO users (email, username, hashed_password) VALUES ('later', 'later', '')");
  const child = Bun.spawn([process.execPath, MAIN, "restore", backup, "--force"], {
    env: { DATABASE_URL: url },
    stdio: ["ignore", "ignore", "ignore"],
  });
  while (!list().some((name) => name.startsWith(".latchkey-"))) await Bun.sleep(1);
  child.kill("SIGKILL");
  await child.exited;
  const readUsername = () => sql("SELECT username FROM users WHERE id = 1");
  expect(await readUsername()).toEqual([{ username: "grace" }]);
  expect((await tool(["restore", backup, "--force"])).code).toBe(0);
  expect(await readUsername()).toEqual([{ username: "ada" }]);
  const [next] = await sql(
    "INSERT INTO users (email, username, hashed_password) VALUES ('new', 'new', '') RETURNING id",
  );
  expect(next).toEqual({ id: 100_002 });
});

test("a restore is refused while a service that has not answered a request runs", async () => {
  await using fixture = await openFixture();
  const backup = fixture.file("backup.db");
  await fixture.tool(["backup", backup]);
  await using _service = await openDatabase({ url: fixture.url });
  const env = { DATABASE_URL: fixture.url };
  const refused = await startTool(["restore", backup, "--force"], { env });
  expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining("stop the service") });
  expect(await Bun.file(backup).exists()).toBe(true);
});

test("- is standard output and standard input; with a configured key, restore demands a new one", async () => {
  await using fixture = await openFixture();
  const command = [process.execPath, MAIN, "backup", "-"];
  const child = Bun.spawn(command, { env: { DATABASE_URL: fixture.url }, stdout: "pipe" });
  const backup = await child.stdout.bytes();
  expect(await child.exited).toBe(0);
  await Bun.file(fixture.path).delete();
  await Bun.write(fixture.file("auth-secret-key"), "not in use");
  const key = { AUTH_SECRET_KEY: "configured" };
  const restored = await fixture.tool(["restore", "-"], key, backup);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining("Set a new AUTH_SECRET_KEY") });
  expect(await fixture.username()).toBe("ada");
});

test("an existing backup is replaced only with --force", async () => {
  await using fixture = await openFixture();
  const backup = fixture.file("backup.db");
  await Bun.write(backup, "precious");
  const refused = await fixture.tool(["backup", backup]);
  expect(refused.code).toBe(64);
  expectSentence(refused.stderr);
  expect(await Bun.file(backup).text()).toBe("precious");
  expect((await fixture.tool(["backup", backup, "--force"])).code).toBe(0);
  // Of a database in use, the write-ahead log would be applied to the backup.
  expect((await fixture.tool(["backup", fixture.path, "--force"])).code).toBe(64);
  expect(fixture.list().filter((name) => !name.startsWith("latchkey.db"))).toEqual(["backup.db"]);
});

describe("restore", () => {
  test("rejects a file that is not a complete backup, and keeps the database", async () => {
    await using fixture = await openFixture();
    await fixture.tool(["backup", fixture.file("backup.db")]);
    const bytes = await Bun.file(fixture.file("backup.db")).bytes();
    await querySqlite(`file:${fixture.file("other.db")}`, "CREATE TABLE notes (id INTEGER)");
    await Bun.write(fixture.file("truncated.db"), bytes.slice(0, -4096));
    await Bun.write(fixture.file("empty.db"), "");
    await Bun.write(fixture.file("text.db"), "-- PostgreSQL database dump\n".repeat(200));
    for (const name of ["truncated.db", "empty.db", "text.db", "other.db"]) {
      const { code, stderr } = await fixture.tool(["restore", fixture.file(name), "--force"]);
      expect([name, code]).toEqual([name, 65]);
      expectSentence(stderr);
    }
    expect((await fixture.tool(["restore", fixture.file("missing.db"), "--force"])).code).toBe(69);
    expect(await fixture.username()).toBe("ada");
  });

  test("replaces a damaged database", async () => {
    await using fixture = await openFixture();
    const backup = fixture.file("backup.db");
    await fixture.tool(["backup", backup]);
    await Bun.write(fixture.path, "damaged ".repeat(1000));
    expect((await fixture.tool(["restore", backup, "--force"])).code).toBe(0);
    expect(await fixture.username()).toBe("ada");
  });
});

test("with PostgreSQL, both name the program to run, and print no password", async () => {
  for (const [command, program] of [
    ["backup", "pg_dump --format=custom"],
    ["restore", "pg_restore --clean"],
  ]) {
    const env = { DATABASE_URL: "postgres://u:Hunter2@h/d" };
    const { code, stderr } = await runTool([command ?? "", "latchkey.dump"], { env });
    expect([code, stderr]).toEqual([64, expect.stringContaining(program ?? "")]);
    expect(stderr).not.toContain("Hunter2");
  }
});
