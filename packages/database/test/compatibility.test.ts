/** A release runs on the schema of a later one if all of its migrations are compatible, on both databases. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { version } from "../../../package.json";
import { parseOldestRelease } from "../src/compatibility.ts";
import { MigrationRejected, SchemaTooNew } from "../src/index.ts";
import { EXPAND, migrateWithExtra } from "./support/extra-migration.ts";
import { openLibsqlTestDatabase } from "./support/libsql-database.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";
import { errorOf } from "./support/test-database.ts";

const server = await sharedPostgresServer();

const USER = { email: "ada@example.org", username: "ada", hashedPassword: "s$d" };

describe.each([
  ["libsql", openLibsqlTestDatabase],
  ["PostgreSQL", () => openPostgresTestDatabase(server)],
] as const)("on %s", (_name, open) => {
  test("a release runs on a newer schema that is compatible with it", async () => {
    await using testDatabase = await open();
    await migrateWithExtra(testDatabase.url, { oldestRelease: version });
    await using replica = await testDatabase.reopen();
    expect(await replica.migrate()).toBe("newer");
    expect(await replica.users.create(USER)).toMatchObject(USER);
    expect(await testDatabase.query("select extra from users")).toEqual([{ extra: 0 }]);
  });

  test.each([
    ["no earlier release", null],
    ["only later releases than this one", "999.0.0"],
  ])("a newer schema that is compatible with %s is rejected", async (_case, oldestRelease) => {
    await using testDatabase = await open();
    await migrateWithExtra(testDatabase.url, { oldestRelease });
    expect(await errorOf(testDatabase.database.migrate())).toBeInstanceOf(SchemaTooNew);
  });

  test("a statement that the database rejects is reported with its reason, and the migration can be repeated", async () => {
    await using testDatabase = await open();
    const { url } = testDatabase;
    const broken = [...EXPAND, "alter table missing add column x integer"];
    const failed = migrateWithExtra(url, { oldestRelease: version, statements: broken });
    const error = await failed.catch((reason) => reason);
    expect(error).toBeInstanceOf(MigrationRejected);
    expect(error.message).toMatch(/\((42P01|SQLITE_ERROR)\)/);
    expect(await testDatabase.database.migrate()).toBe("current");
    const corrected = [...EXPAND, "drop table extras"];
    await migrateWithExtra(url, { oldestRelease: version, statements: corrected });
    await using replica = await testDatabase.reopen();
    expect(await replica.migrate()).toBe("newer");
  });
});

test("every migration except the first names the oldest compatible release, the same in both databases", () => {
  const [libsql, postgres] = ["libsql", "postgres"].map((dialect) => {
    const migrationsFolder = join(import.meta.dir, "../src", dialect, "migrations");
    return readMigrationFiles({ migrationsFolder }).map(({ sql }) => parseOldestRelease(sql));
  });
  expect(libsql).toEqual(postgres);
  expect(postgres?.slice(1)).not.toContain(null);
});
