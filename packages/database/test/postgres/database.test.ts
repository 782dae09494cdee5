/** What is particular to PostgreSQL: migrations, privileges, session settings, types, connection errors. */
import { afterAll, describe, expect, it } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import {
  DatabaseUnavailable,
  type MailBudget,
  type MailPolicy,
  MigrationRejected,
  openDatabase,
  UnsupportedDatabaseServer,
} from "../../src/index.ts";
import { checkServer } from "../../src/postgres/migrate.ts";
import { openPostgresTestDatabase } from "../support/postgres-database.ts";
import { migrateConcurrently } from "../support/replica.ts";
import { repositoryConformance } from "../support/repository-conformance.ts";
import { createTest } from "../support/test-database.ts";

const server = await startPostgresServer();
afterAll(() => server[Symbol.asyncDispose]());

const open = () => openPostgresTestDatabase(server);
const test = createTest(open);

repositoryConformance("PostgreSQL", open);

describe("the PostgreSQL schema", () => {
  it("is created once when several replicas start on an empty database", async () => {
    const url = await server.createDatabase();
    await migrateConcurrently(url);
    const [row] = await server.query<{ total: number; distinct: number }>(
      'select count(*)::int as total, count(distinct hash)::int as "distinct" from __drizzle_migrations',
      url,
    );
    expect(row?.total).toBeGreaterThan(0);
    expect(row?.total).toBe(row?.distinct);
  });

  test("that is up to date needs no privileges other than reading and writing rows", async (testDatabase) => {
    await testDatabase.query("create role app_user login password 'app_user'");
    await testDatabase.query(
      "grant select, insert, update, delete on all tables in schema public to app_user",
    );
    const url = testDatabase.url.replace("latchkey:latchkey", "app_user:app_user");
    await using database = await openDatabase({ url });
    await database.migrate();
    expect(await database.todos.create({ title: "x", completed: false })).toMatchObject({ id: 1 });
    await testDatabase.query("revoke all on todos from app_user");
    const error = await database.todos.findById(1).catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error.reason).toBe("42501");
  });

  it("is created completely or not at all", async () => {
    const url = await server.createDatabase();
    await server.query("create table public.users (name text)", url);
    await using database = await openDatabase({ url });
    await expect(database.migrate()).rejects.toBeInstanceOf(MigrationRejected);
    const tables = "select tablename from pg_tables where schemaname = 'public'";
    expect(await server.query(tables, url)).toEqual([{ tablename: "users" }]);
  });

  it("is in `public`, regardless of the search path", async () => {
    const url = await server.createDatabase();
    await server.query("create schema latchkey authorization latchkey", url);
    await using database = await openDatabase({ url });
    await database.migrate();
    const others = "select tablename from pg_tables where tableowner = 'latchkey' and schemaname <> 'public'";
    expect(await server.query(others, url)).toEqual([]);
  });
});

describe("the PostgreSQL server", () => {
  it("is rejected if it is too old or its encoding is not UTF-8", () => {
    expect(() => checkServer({ version: 130_014, encoding: "UTF8" })).toThrow(UnsupportedDatabaseServer);
    expect(() => checkServer({ version: 170_010, encoding: "LATIN1" })).toThrow(UnsupportedDatabaseServer);
    checkServer({ version: 140_000, encoding: "UTF8" });
  });

  test("can have any date style and time zone", async ({ query, reopen }) => {
    await query("alter role latchkey set datestyle = 'SQL, DMY'");
    await query("alter role latchkey set timezone = 'Asia/Kathmandu'");
    await using database = await reopen();
    await query("insert into todos (title, created_at) values ('then', '2026-01-02T03:04:05.678Z')");
    const [todo] = await database.todos.list({ after: 0, limit: 1 });
    expect(todo?.createdAt).toBe("2026-01-02T03:04:05.678Z");
    await query("alter role latchkey reset all");
  });

  test("can have any default isolation level: transactions still see each other's mails in the budgets", async (testDatabase) => {
    await testDatabase.query("alter role latchkey set default_transaction_isolation = 'repeatable read'");
    await using database = await testDatabase.reopen();
    const { users, outbox } = database;
    const email = "ada@example.org";
    await users.create({ email, username: "ada", hashedPassword: "s$d" });
    for (let index = 0; index < 12; index++) await outbox.request("reset", email);
    const resets: MailBudget = { per: "recipient", kinds: ["reset"], capacity: 3, refillMs: 60_000 };
    const policy: MailPolicy = { digestMailbox: () => email, budgets: [resets] };
    const claims = await Promise.all(Array.from({ length: 12 }, () => outbox.claim(policy)));
    expect(claims.filter((mail) => mail?.isWithinBudget)).toHaveLength(3);
    await testDatabase.query("alter role latchkey reset all");
  });

  test("can contain infinite timestamps, which are read as the epoch", async ({ query, todos }) => {
    await query("insert into todos (title, created_at, updated_at) values ('x', 'infinity', '-infinity')");
    const [todo] = await todos.list({ after: 0, limit: 1 });
    expect(todo?.createdAt).toBe("1970-01-01T00:00:00.000Z");
    expect(todo?.updatedAt).toBe("1970-01-01T00:00:00.000Z");
  });

  test("reports a duplicate id as an error other than UserAlreadyExists", async (testDatabase) => {
    await testDatabase.query(
      "insert into users (id, email, username, hashed_password) values (1, 'a@b.c', 'a', 's$d')",
    );
    const user = { email: "ada@example.org", username: "ada", hashedPassword: "s$d" };
    await expect(testDatabase.users.create(user)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await testDatabase.users.create(user)).id).toBe(2);
  });
});

describe("the connection error explains the cause without the password", () => {
  const cases: [string, (url: string) => string, string, RegExp][] = [
    [
      "for a wrong password",
      (url) => url.replace(":latchkey@", ":hunter2@"),
      "28P01",
      /user or the password/,
    ],
    ["for a missing database", (url) => `${url}_missing`, "3D000", /no database of this name/],
    [
      "for a port without a server",
      (url) => url.replace(/:\d+\//, ":1/"),
      "ERR_POSTGRES_CONNECTION_REFUSED",
      /nothing accepts/,
    ],
    ["for a server without TLS", (url) => `${url}?sslmode=require`, "ERR_POSTGRES_TLS_NOT_AVAILABLE", /TLS/],
  ];
  it.each(cases)("%s", async (_, change, reason, explanation) => {
    await using database = await openDatabase({ url: change(await server.createDatabase()) });
    for (const call of [() => database.migrate(), () => database.ping(), () => database.users.findById(1)]) {
      const error = await call().catch((reason) => reason);
      expect(error).toBeInstanceOf(DatabaseUnavailable);
      expect(error.reason).toBe(reason);
      expect(error.message).toMatch(explanation);
      expect(Bun.inspect(error, { depth: 10 })).not.toContain("hunter2");
    }
  });

  it("for a host name that cannot be resolved", async () => {
    await using database = await openDatabase({ url: "postgres://ada:hunter2@latchkey.invalid/latchkey" });
    const error = await database.ping().catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(Bun.inspect(error, { depth: 10 })).not.toContain("hunter2");
  });
});
