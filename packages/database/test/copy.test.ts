/** Sessions that begin during a copy, and ids after it; apps/admin/test/commands/copy.test.ts runs complete copies. */
import { expect, test } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { withCopySession as withLibsql } from "../src/libsql/copy.ts";
import { openLibsqlDatabase } from "../src/libsql/database.ts";
import { openDatabase } from "../src/open.ts";
import { withCopySession as withPostgres } from "../src/postgres/copy.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";
import { spawnReplica } from "./support/replica.ts";

const ROLES = ["source", "target"] as const;

test.each(ROLES)("a libsql %s cannot be opened during a copy", async (role) => {
  await using folder = await openFolder();
  const path = folder.databaseUrl.slice("file:".length);
  // In another process, because a closed connection of this one can hold its locks until it is garbage collected.
  await using migration = spawnReplica("migrate", folder.databaseUrl);
  await migration.stdin.end();
  await migration.exited;
  await withLibsql(path, role, async () => {
    const opened = openLibsqlDatabase({ path, busyTimeoutMs: 0 });
    await expect(opened).rejects.toMatchObject({ reason: expect.stringMatching(/^SQLITE_BUSY/) });
  });
});

test.each(ROLES)("a PostgreSQL %s cannot be changed during a copy", async (role) => {
  await using server = await startPostgresServer();
  await using testDatabase = await openPostgresTestDatabase(server);
  await testDatabase.database.close();
  await withPostgres(testDatabase.url, role, async () => {
    const write = testDatabase.query("set lock_timeout = 1; insert into todos (title) values ('later')");
    await expect(write).rejects.toMatchObject({ errno: "55P03" });
  });
});

test("an import into a copy on PostgreSQL never lowers the ids of new users", async () => {
  await using server = await startPostgresServer();
  await using testDatabase = await openPostgresTestDatabase(server);
  const { database, url, query } = testDatabase;
  await database.close();
  await withPostgres(url, "target", async ({ tables, setLastId }) => {
    for (const table of tables) if (table.name === "users") await setLastId(table, 40);
  });
  await using reopened = await openDatabase({ url });
  expect(await reopened.users.findLastId()).toBe(40);
  await reopened.users.raiseLastId(7);
  expect(await query("select nextval('users_id_seq')::int as id")).toEqual([{ id: 41 }]);
});
