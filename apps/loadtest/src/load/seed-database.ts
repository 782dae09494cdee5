/** Makes the accounts in the service's own database: real hashes, each with its own salt, without a request. */
import { existsSync } from "node:fs";
import { databaseFile, openDatabase, UnsupportedDatabaseUrl, UserAlreadyExists } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { describeError, EXIT, LoadtestError } from "../errors.ts";
import type { AccountsOptions } from "./service-users.ts";
import { accountOf } from "./users.ts";

/**
 * Adds those that are not there; the hashes take this machine's cores as long as they last.
 * @throws {LoadtestError} 64 for a URL that names no database, 69 for one that is not there or does not answer
 */
export async function seedDatabase({ url, count, signal, onAdvance }: AccountsOptions): Promise<void> {
  try {
    expectFile(databaseFile({ url }));
    await using database = await openDatabase({ url });
    await using hasher = createHasher();
    await hasher.ready();
    let next = 0;
    let done = 0;
    const addRest = async (): Promise<void> => {
      while (next < count && !signal.aborted) {
        const { email, username, password } = accountOf(next++);
        if ((await database.users.findByEmail(email)) === null) {
          const hashedPassword = await hasher.hash(password);
          await database.users.create({ email, username, hashedPassword }).catch(ignoreExisting);
        }
        onAdvance(++done, count);
      }
    };
    // As many as there are lanes, so that none is ever idle while one account is being stored.
    await Promise.all(Array.from({ length: hasher.stats().lanes * 2 }, addRest));
  } catch (error) {
    if (error instanceof LoadtestError) throw error;
    const exitCode = error instanceof UnsupportedDatabaseUrl ? EXIT.usage : EXIT.unavailable;
    throw new LoadtestError(`--seed-database: ${describeError(error)}`, exitCode);
  }
}

function expectFile(path: string | null): void {
  if (path === null || existsSync(path)) return;
  throw new LoadtestError(`--seed-database: there is no database at ${path}.`, EXIT.unavailable);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof UserAlreadyExists)) throw error;
}
