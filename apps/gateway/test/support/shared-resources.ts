/**
 * What all test files of a process share, because starting it takes longer than a test: a preload of `bun test`. A worker of
 * `bun test --parallel` runs `afterAll` after each file and gets no event at its end: what it shares ends with its process.
 */
import { afterEach } from "bun:test";
import { openDatabase } from "@latchkey/database";
import { createHasher, type Hasher } from "@latchkey/hashing";
import type { Browser } from "@latchkey/testing/chromium";
import { createEmptiedDatabases } from "@latchkey/testing/emptied-databases";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";

let server: ReturnType<typeof startMigratedServer> | undefined;
let hasher: Hasher | undefined;
let browser: Promise<Browser> | undefined;

async function startMigratedServer() {
  const postgres = await sharedPostgresServer();
  const template = await postgres.createDatabase();
  await using database = await openDatabase({ url: template });
  await database.migrate();
  /** Returns the URL of a new database with the current schema. */
  const createMigrated = () => postgres.createDatabase(template);
  return { ...postgres, createMigrated, openEmptied: createEmptiedDatabases(createMigrated) };
}

export const migratedPostgresServer = () => (server ??= startMigratedServer());

/** The portable kernel starts without measuring any other. */
export const sharedHasher = (): Hasher => (hasher ??= createHasher({ workers: 1, kernel: "portable" }));

/** Imported on first use, because few tests need a browser. Chromium ends when its pipe closes. */
export const sharedBrowser = () =>
  (browser ??= import("@latchkey/testing/chromium").then(({ openBrowser }) => openBrowser()));

afterEach(async () => {
  await (await browser)?.closePages();
});
