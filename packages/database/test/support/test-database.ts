/** What the conformance suites need: an empty database for each test, and users. */
import { test } from "bun:test";
import type { Database, Timestamp, UserRepository } from "../../src/index.ts";

/** An empty, migrated database for one test; disposing it removes everything. */
export interface TestDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Opens a second connection to the same tables, like another replica. */
  reopen(): Promise<Database>;
  /** Runs SQL as another client of the database. */
  query<Row>(sql: string): Promise<Row[]>;
}

interface TestDatabaseParts extends Pick<TestDatabase, "url" | "reopen" | "query"> {
  /** Whether the database has the current schema already. @default false */
  readonly isMigrated?: boolean;
}

/** Opens the database, and migrates it unless it is migrated; disposing the result closes it, and disposes the folder. */
export async function openTestDatabase(
  { url, reopen, query, isMigrated = false }: TestDatabaseParts,
  folder?: AsyncDisposable,
): Promise<TestDatabase> {
  const database = await reopen();
  if (!isMigrated) await database.migrate();
  return {
    database,
    url,
    reopen,
    query,
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await folder?.[Symbol.asyncDispose]();
    },
  };
}

/** Returns a `test` whose function receives a database of its own, with its repositories. */
export const createTest =
  <Opened extends TestDatabase>(open: () => Promise<Opened>) =>
  (name: string, run: (testDatabase: Database & Opened) => Promise<void>): void =>
    test(name, async () => {
      await using testDatabase = await open();
      await run({ ...testDatabase.database, ...testDatabase });
    });

export type Test = ReturnType<typeof createTest<TestDatabase>>;

export const ada = { email: "ada@example.org", username: "ada", hashedPassword: "salt$digest" };
export const bob = { email: "bob@example.org", username: "bob", hashedPassword: "salt$digest" };

/**
 * Returns the error of a rejected promise. Unlike `expect(…).rejects`, it does not wait in a nested event loop, which delays
 * the immediates of the write queue.
 */
export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

/** Returns the number of networks that were stored for the user in the last minute. */
export async function networksOf(users: UserRepository, id: number): Promise<number | undefined> {
  return (await users.countLoginMeans([id], 60)).get(id)?.networks;
}

/** Waits until the clock is past this timestamp: the next one is greater. */
export async function waitUntilAfter(timestamp: Timestamp): Promise<void> {
  while (Date.now() <= Date.parse(timestamp) + 1) await Bun.sleep(1);
}
