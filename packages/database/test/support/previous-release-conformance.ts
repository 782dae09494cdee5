/**
 * Runs the conformance suite of the release in the folder `PREVIOUS_RELEASE` on databases with a newer schema. Only
 * `previous-release.test.ts` starts it. Both releases never open one file in this process: see packages/testing/src/sqlite.ts.
 */
import { afterAll, expect } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { migrateWithExtra } from "./extra-migration.ts";
import { openTestDatabase, type TestDatabase, waitUntilAfter } from "./test-database.ts";

const { PREVIOUS_RELEASE = "", MIGRATED_DATABASE_URL = "" } = process.env;

const pathOf = (path: string): string => join(PREVIOUS_RELEASE, "packages/database", path);

/** The types of this release are safe as long as the suite and the package's public API have the same signatures. */
const { repositoryConformance }: typeof import("./repository-conformance.ts") = await import(
  pathOf("test/support/repository-conformance.ts")
);
const { openDatabase }: typeof import("../../src/index.ts") = await import(pathOf("src/index.ts"));
const { version } = await Bun.file(join(PREVIOUS_RELEASE, "package.json")).json();

const server = await startPostgresServer();
afterAll(() => server[Symbol.asyncDispose]());

async function openNewerDatabase(
  url: string,
  query: TestDatabase["query"],
  folder?: AsyncDisposable,
): Promise<TestDatabase> {
  // Some suites order two writes with a query in between by their time in milliseconds.
  const queryInTime = async <Row>(sql: string): Promise<Row[]> => {
    const rows = await query<Row>(sql);
    await waitUntilAfter(new Date().toISOString());
    return rows;
  };
  const parts = { url, reopen: () => openDatabase({ url }), query: queryInTime };
  const testDatabase = await openTestDatabase(parts, folder);
  expect(await testDatabase.database.migrate()).toBe("newer");
  return testDatabase;
}

repositoryConformance("libsql", async () => {
  const folder = await openFolder();
  const url = folder.databaseUrl;
  await copyFile(MIGRATED_DATABASE_URL.slice("file:".length), url.slice("file:".length));
  // Every database has a key of its own.
  await querySqlite(url, "update digest_keys set key = lower(hex(randomblob(32)))");
  return openNewerDatabase(url, (sql) => querySqlite(url, sql), folder);
});

repositoryConformance("PostgreSQL", async () => {
  const url = await server.createDatabase();
  await migrateWithExtra(url, { oldestRelease: version });
  return openNewerDatabase(url, (sql) => server.query(sql, url));
});
