/** What is particular to PostgreSQL: migrations, privileges, session settings, types, connection errors. */
import { afterAll, describe, expect, it } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { IdsBehind } from "../../src/errors.ts";
import {
  DatabaseUnavailable,
  MigrationRejected,
  openDatabase,
  UnsupportedDatabaseServer,
} from "../../src/index.ts";
import { unavailable } from "../../src/postgres/errors.ts";
import { checkServer } from "../../src/postgres/migrate.ts";
import { claim } from "../support/mail-claim-conformance.ts";
import { openEmptiedPostgresDatabase, openPostgresTestDatabase } from "../support/postgres-database.ts";
import { repositoryConformance } from "../support/repository-conformance.ts";
import { ada, createTest, errorOf } from "../support/test-database.ts";

const server = await startPostgresServer();
afterAll(() => server[Symbol.asyncDispose]());

const open = () => openPostgresTestDatabase(server);
const test = createTest(open);

// Each connection costs the server 30 CPU milliseconds; four of each replica are enough to conflict.
repositoryConformance("PostgreSQL", () => openEmptiedPostgresDatabase(server));

describe("the PostgreSQL schema", () => {
  test("that is up to date needs no privileges other than reading and writing rows", async (testDatabase) => {
    await testDatabase.query("create role app_user login password 'app_user'");
    await testDatabase.query(
      "grant select, insert, update, delete on all tables in schema public to app_user",
    );
    await testDatabase.query("revoke insert, update, delete on __drizzle_migrations from app_user");
    await testDatabase.query("revoke all on __latchkey_migrations from app_user");
    const url = testDatabase.url.replace("latchkey:latchkey", "app_user:app_user");
    await using database = await openDatabase({ url });
    await database.migrate();
    await database.checkIds();
    expect(await database.todos.create({ title: "x", completed: false })).toMatchObject({ id: 1 });
    await testDatabase.query("revoke all on todos from app_user");
    const error = await database.todos.findById(1).catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error.reason).toBe("42501");
  });

  test("with sequences that are behind their tables is refused, and an insert that fails names raise-ids", async (testDatabase) => {
    const { database, query, users } = testDatabase;
    await database.checkIds();
    await users.create(ada);
    await database.checkIds();
    for (const [table, insert] of [
      ["identities", "(user_id, issuer, subject, provider) values (1, 'i', 's', 'p')"],
      ["outbox", "(kind) values ('reset')"],
      ["todos", "(title) values ('x')"],
      ["users", "(email, username, hashed_password) values ('bob@example.org', 'bob', '')"],
    ] as const) {
      await query(`insert into ${table} ${insert}`);
      await database.checkIds();
      await query(`alter table ${table} alter column id restart with 1`);
      expect(await errorOf(database.checkIds())).toEqual(new IdsBehind(table));
      if (table !== "users") await query(`alter table ${table} alter column id restart with 9`);
    }
    const eve = { ...ada, email: "eve@example.org", username: "eve" };
    const error = await errorOf(users.create(eve));
    expect(error).toMatchObject({ reason: "23505", explanation: expect.stringContaining("raise-ids") });
  });

  it("is created completely or not at all", async () => {
    const url = await server.createDatabase();
    await server.query("create table public.users (name text)", url);
    await using database = await openDatabase({ url });
    expect(await errorOf(database.migrate())).toBeInstanceOf(MigrationRejected);
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

  test("can have any date style and time zone, and infinite timestamps, which are read as the epoch", async ({
    query,
    reopen,
  }) => {
    await query("alter role latchkey set datestyle = 'SQL, DMY'");
    await query("alter role latchkey set timezone = 'Asia/Kathmandu'");
    await using database = await reopen();
    const times = ["2026-01-02T03:04:05.678Z", "infinity", "-infinity"];
    for (const time of times) await query(`insert into todos (title, created_at) values ('x', '${time}')`);
    const todos = await database.todos.list({ after: 0, limit: 3 });
    const epoch = "1970-01-01T00:00:00.000Z";
    expect(todos.map(({ createdAt }) => createdAt)).toEqual(["2026-01-02T03:04:05.678Z", epoch, epoch]);
    await query("alter role latchkey reset all");
  });

  test("can have any default isolation level: transactions still see each other's mails in the budgets", async (testDatabase) => {
    await testDatabase.query("alter role latchkey set default_transaction_isolation = 'repeatable read'");
    await using database = await testDatabase.reopen();
    await database.users.create(ada);
    for (let index = 0; index < 12; index++) await database.outbox.request("reset", ada.email);
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim(database)));
    expect(claims.filter((mail) => mail?.isWithinBudget)).toHaveLength(3);
    await testDatabase.query("alter role latchkey reset all");
  });

  test("reports a duplicate id as an error other than UserAlreadyExists", async (testDatabase) => {
    await testDatabase.query(
      "insert into users (id, email, username, hashed_password) values (1, 'a@b.c', 'a', 's$d')",
    );
    expect(await errorOf(testDatabase.users.create(ada))).toBeInstanceOf(DatabaseUnavailable);
    expect((await testDatabase.users.create(ada)).id).toBe(2);
  });
});

describe("the connection error explains the cause without the password", async () => {
  const reachable = await server.createDatabase();

  it.each<[reason: string, change: (url: string) => string, explanation: RegExp]>([
    ["28P01", (url) => url.replace(":latchkey@", ":hunter2@"), /user or the password/],
    ["3D000", (url) => `${url}_missing`, /no database of this name/],
    ["ERR_POSTGRES_CONNECTION_REFUSED", (url) => url.replace(/:\d+\//, ":1/"), /nothing accepts/],
    ["ERR_POSTGRES_TLS_NOT_AVAILABLE", (url) => `${url}?sslmode=require`, /TLS/],
  ])("if the reason is %s", async (reason, change, explanation) => {
    await using database = await openDatabase({ url: change(reachable) });
    for (const call of [() => database.migrate(), () => database.ping(), () => database.users.findById(1)]) {
      const error = await call().catch((reason) => reason);
      expect(error).toBeInstanceOf(DatabaseUnavailable);
      expect(error.reason).toBe(reason);
      expect(error.message).toMatch(explanation);
      expect(Bun.inspect(error, { depth: 10 })).not.toContain("hunter2");
    }
  });

  it("if the server rejects options of the URL (42704)", async () => {
    await using database = await openDatabase({ url: `${reachable}?options=-c%20unknown%3D1` });
    const error = await database.ping().catch((reason) => reason);
    expect(error.message).toContain("(42704): the server does not know a parameter");
  });

  it("if the schema public is missing (3F000)", async () => {
    const url = await server.createDatabase();
    await server.query("drop schema public", url);
    await using database = await openDatabase({ url });
    const error = await database.migrate().catch((reason) => reason);
    expect(error.message).toContain("(3F000): the schema public does not exist");
  });

  it.each(["57P03", "57P05", "40001"])("if the reason is %s", (reason) => {
    expect(unavailable(reason).explanation).toBeString();
  });

  it("for a host name that cannot be resolved", async () => {
    await using database = await openDatabase({ url: "postgres://ada:hunter2@latchkey.invalid/latchkey" });
    const error = await database.ping().catch((reason) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(Bun.inspect(error, { depth: 10 })).not.toContain("hunter2");
  });
});
