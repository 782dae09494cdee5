/** What all test files of a process share, because starting it takes longer than a test: a preload of `bun test`. */
import { afterAll } from "bun:test";
import { openDatabase } from "@latchkey/database";
import { createHasher, type Hasher } from "@latchkey/hashing";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";

let server: Promise<MigratedServer> | undefined;
let hasher: Hasher | undefined;

interface MigratedServer extends AsyncDisposable {
  readonly query: PostgresServer["query"];
  /** Returns the URL of a new database with the current schema. */
  createMigrated(): Promise<string>;
}

async function startMigratedServer(): Promise<MigratedServer> {
  const postgres = await startPostgresServer();
  const template = await postgres.createDatabase();
  await using database = await openDatabase({ url: template });
  await database.migrate();
  return { ...postgres, createMigrated: () => postgres.createDatabase(template) };
}

export const sharedPostgresServer = (): Promise<MigratedServer> => (server ??= startMigratedServer());

/** The portable kernel starts without measuring any other. */
export const sharedHasher = (): Hasher => (hasher ??= createHasher({ workers: 1, kernel: "portable" }));

afterAll(async () => {
  await hasher?.close();
  await (await server)?.[Symbol.asyncDispose]();
});
