/**
 * What all test files of a process share, because starting it takes longer than a test: a preload of `bun test`. A worker of
 * `bun test --parallel` runs `afterAll` after each file and gets no event at its end: what it shares ends with its process.
 */
import { afterEach } from "bun:test";
import { dirname } from "node:path";
import { openDatabase } from "@latchkey/database";
import { createHasher, type Hasher } from "@latchkey/hashing";
import type { Browser } from "@latchkey/testing/chromium";
import { createEmptiedDatabases } from "@latchkey/testing/emptied-databases";
import { startPostgresServer } from "@latchkey/testing/postgres-server";

let server: ReturnType<typeof startMigratedServer> | undefined;
let hasher: Hasher | undefined;
let browser: Promise<Browser> | undefined;

/** Ends when the pipe to it closes, even if this process is killed; then stops the server at once and removes its folder. */
const STOP_WITH_PARENT = `cat
read pid < "$1/postmaster.pid" && kill -QUIT "$pid" && while kill -0 "$pid"; do sleep 0.05; done
rm -rf "$2"`;

async function startMigratedServer() {
  const postgres = await startPostgresServer();
  const [row] = await postgres.query<{ data_directory: string }>("show data_directory");
  if (!row) throw new Error("The server does not name its data directory");
  const data = row.data_directory;
  Bun.spawn(["sh", "-c", STOP_WITH_PARENT, "sh", data, dirname(data)], {
    stdio: ["pipe", "ignore", "ignore"],
    // A signal to the process group of the tests must not end it.
    detached: true,
  }).unref();
  const template = await postgres.createDatabase();
  await using database = await openDatabase({ url: template });
  await database.migrate();
  /** Returns the URL of a new database with the current schema. */
  const createMigrated = () => postgres.createDatabase(template);
  return { ...postgres, createMigrated, openEmptied: createEmptiedDatabases(createMigrated) };
}

export const sharedPostgresServer = () => (server ??= startMigratedServer());

/** The portable kernel starts without measuring any other. */
export const sharedHasher = (): Hasher => (hasher ??= createHasher({ workers: 1, kernel: "portable" }));

/** Imported on first use, because few tests need a browser. Chromium ends when its pipe closes. */
export const sharedBrowser = () =>
  (browser ??= import("@latchkey/testing/chromium").then(({ openBrowser }) => openBrowser()));

afterEach(async () => {
  await (await browser)?.closePages();
});
