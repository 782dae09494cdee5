/** Sessions that begin during a copy; apps/admin/test/commands/copy.test.ts runs complete copies. */
import { expect, test } from "bun:test";
import { openFolder } from "@latchkey/testing/folder";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { openLibsqlDatabase } from "../../src/libsql/database.ts";
import { withExclusiveSession as withLibsql } from "../../src/libsql/exclusive-session.ts";
import { withExclusiveSession as withPostgres } from "../../src/postgres/exclusive-session.ts";
import { createMigrated } from "../support/postgres-database.ts";
import { migrateInProcesses } from "../support/replica.ts";
import { errorOf } from "../support/test-database.ts";

const server = await sharedPostgresServer();

const ROLES = ["source", "target"] as const;

test.each(ROLES)("a libsql %s cannot be opened during a copy", async (role) => {
  await using folder = await openFolder();
  const path = folder.databaseUrl.slice("file:".length);
  // In another process, because a closed connection of this one can hold its locks until it is garbage collected.
  await migrateInProcesses(1, folder.databaseUrl);
  await withLibsql(path, role, async () => {
    const opened = openLibsqlDatabase({ path, busyTimeoutMs: 0 });
    expect(await errorOf(opened)).toMatchObject({ reason: expect.stringMatching(/^SQLITE_BUSY/) });
  });
});

test.each(ROLES)("a PostgreSQL %s cannot be changed during a copy", async (role) => {
  const url = await createMigrated(server);
  await withPostgres(url, role, async () => {
    const write = server.query("set lock_timeout = 1; insert into todos (title) values ('later')", url);
    expect(await errorOf(write)).toMatchObject({ errno: "55P03" });
  });
});
