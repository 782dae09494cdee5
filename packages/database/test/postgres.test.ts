/** PostgreSQL's own quirks: its migrations, its privileges, its session settings, its types. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { DatabaseUnavailable, openDatabase, SchemaTooNew, UnsupportedDatabaseServer } from "../src/index.ts";
import { checkServer } from "../src/postgres/migrate.ts";
import { openPostgresScratch } from "./postgres-scratch.ts";
import { repositoryConformance } from "./repository-conformance.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const open = () => openPostgresScratch(server);

repositoryConformance("PostgreSQL", open);

describe("the schema", () => {
  test("is made once when several replicas start on an empty database", async () => {
    const url = await server.createDatabase();
    const replicas = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, join(import.meta.dir, "migrate-process.ts"), url], {
        stdin: "pipe",
        stdout: "pipe",
      }),
    );
    const readers = replicas.map((replica) =>
      replica.stdout.pipeThrough(new TextDecoderStream()).getReader(),
    );
    for (const reader of readers) expect((await reader.read()).value).toBe("ready\n");
    for (const replica of replicas) replica.stdin.end();
    for (const reader of readers) expect((await reader.read()).value).toBe("migrated\n");
    expect(await server.query("select count(*)::int as count from __drizzle_migrations", url)).toEqual([
      { count: 1 },
    ]);
  });

  test("of a newer release is refused", async () => {
    await using scratch = await open();
    await scratch.execute(
      "insert into __drizzle_migrations (hash, created_at) values ('later', 9000000000000)",
    );
    await expect(scratch.database.migrate()).rejects.toBeInstanceOf(SchemaTooNew);
  });

  test("that is up to date is accepted from an account that may only read and write rows", async () => {
    await using scratch = await open();
    await scratch.query("create role clerk login password 'clerk'");
    await scratch.query("grant select, insert, update, delete on all tables in schema public to clerk");
    const url = scratch.url.replace("latchkey:latchkey", "clerk:clerk");
    await using database = await openDatabase({ url });
    await database.migrate();
    expect(await database.todos.create({ title: "x", completed: false })).toMatchObject({ id: 1 });
    await scratch.query("revoke all on todos from clerk");
    const failure = await database.todos.findById(1).catch((error) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(failure.reason).toBe("42501");
  });

  test("needs no migration that has not been generated", () => {
    const child = Bun.spawnSync(
      [process.execPath, "x", "drizzle-kit", "generate", "--config=drizzle-postgres.config.ts"],
      { cwd: join(import.meta.dir, "..") },
    );
    expect(child.stdout.toString()).toContain("No schema changes");
  });

  test("is in public, whatever else the account would look at first", async () => {
    const url = await server.createDatabase();
    await server.query("create schema latchkey authorization latchkey", url);
    await using database = await openDatabase({ url });
    await database.migrate();
    const tables = await server.query<{ name: string }>(
      "select schemaname || '.' || tablename as name from pg_tables where tableowner = 'latchkey' order by 1",
      url,
    );
    expect(tables.map(({ name }) => name)).toEqual([
      "public.__drizzle_migrations",
      "public.todos",
      "public.users",
    ]);
  });

  test("lets a list page be read by the primary key", async () => {
    await using scratch = await open();
    await scratch.execute("insert into todos (title) select 'x' from generate_series(1, 10000)");
    await scratch.execute("analyze todos");
    const plan = await scratch.query<object>(
      "explain select * from todos where id > 5000 order by id limit 21",
    );
    expect(JSON.stringify(plan)).toContain("Index Scan using todos_pkey on todos");
  });
});

describe("the server", () => {
  test("must be recent and keep text in UTF-8", () => {
    expect(() => checkServer({ version: 130_014, encoding: "UTF8" })).toThrow(UnsupportedDatabaseServer);
    expect(() => checkServer({ version: 170_010, encoding: "LATIN1" })).toThrow(UnsupportedDatabaseServer);
    checkServer({ version: 140_000, encoding: "UTF8" });
  });

  test("may show dates in its own way: they are read all the same", async () => {
    await using scratch = await open();
    await scratch.query("alter role latchkey set datestyle = 'SQL, DMY'");
    await scratch.query("alter role latchkey set timezone = 'Asia/Kathmandu'");
    await using database = await scratch.reopen();
    await scratch.execute(
      "insert into todos (title, created_at) values ('then', '2026-01-02T03:04:05.678Z')",
    );
    const [todo] = await database.todos.list({ after: 0, limit: 1 });
    expect(todo?.createdAt.toISOString()).toBe("2026-01-02T03:04:05.678Z");
    await scratch.query("alter role latchkey reset all");
  });

  test("may hold times that are none: they are the epoch", async () => {
    await using scratch = await open();
    await scratch.execute(
      "insert into todos (title, created_at, updated_at) values ('x', 'infinity', '-infinity')",
    );
    const [todo] = await scratch.database.todos.list({ after: 0, limit: 1 });
    expect(todo?.createdAt.getTime()).toBe(0);
    expect(todo?.updatedAt.getTime()).toBe(0);
  });

  test("an id that is taken by a row inserted by hand is not a user who exists", async () => {
    await using scratch = await open();
    await scratch.execute(
      "insert into users (id, email, username, hashed_password) values (1, 'a@b.c', 'a', 's$d')",
    );
    const user = { email: "ada@example.org", username: "ada", hashedPassword: "s$d" };
    await expect(scratch.database.users.create(user)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await scratch.database.users.create(user)).id).toBe(2);
  });
});

describe("an address that leads nowhere is said to, without the password", () => {
  const cases: [string, (url: string) => string, string, RegExp][] = [
    ["a wrong password", (url) => url.replace(":latchkey@", ":hunter2@"), "28P01", /user or the password/],
    [
      "an unknown user",
      (url) => url.replace("latchkey:latchkey@", "nobody:hunter2@"),
      "28P01",
      /user or the password/,
    ],
    ["a missing database", (url) => `${url}_missing`, "3D000", /no database of that name/],
    [
      "no server",
      (url) => url.replace(/:\d+\//, ":1/"),
      "ERR_POSTGRES_CONNECTION_REFUSED",
      /nothing accepts/,
    ],
    ["TLS where there is none", (url) => `${url}?sslmode=require`, "ERR_POSTGRES_TLS_NOT_AVAILABLE", /TLS/],
  ];
  test.each(cases)("%s", async (_, change, reason, explanation) => {
    await using database = await openDatabase({ url: change(await server.createDatabase()) });
    for (const call of [() => database.migrate(), () => database.ping(), () => database.users.findById(1)]) {
      const failure = await call().catch((error) => error);
      expect(failure).toBeInstanceOf(DatabaseUnavailable);
      expect(failure.reason).toBe(reason);
      expect(failure.message).toMatch(explanation);
      expect(Bun.inspect(failure, { depth: 10 })).not.toContain("hunter2");
    }
  });

  test("a host that has no address", async () => {
    await using database = await openDatabase({ url: "postgres://ada:hunter2@latchkey.invalid/latchkey" });
    const failure = await database.ping().catch((error) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(Bun.inspect(failure, { depth: 10 })).not.toContain("hunter2");
  });
});
