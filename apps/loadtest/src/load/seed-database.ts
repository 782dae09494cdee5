/** Creates the users in the service's database without requests: real hashes, each with its own salt. */
import { existsSync } from "node:fs";
import { describeError, unavailable, usageError } from "@latchkey/cli";
import { databaseFile, openDatabase, UnsupportedDatabaseUrl, UserAlreadyExists } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { userOf } from "./scenarios.ts";

export interface UsersOptions {
  /** Of the service or of its database. */
  readonly url: string;
  readonly count: number;
  readonly signal: AbortSignal;
  readonly onUser: (done: number, total: number) => void;
}

/**
 * Creates the missing users; hashing uses all cores of this machine meanwhile.
 * @throws {CliError} 64 for an unsupported URL, 69 for a missing or unreachable database
 */
export async function seedDatabase({ url, count, signal, onUser }: UsersOptions): Promise<void> {
  try {
    const path = databaseFile({ url });
    if (path !== null && !existsSync(path)) throw unavailable(`the database ${path} does not exist.`);
    await using database = await openDatabase({ url });
    await using hasher = createHasher();
    await hasher.ready();
    let next = 0;
    let done = 0;
    const createRest = async (): Promise<void> => {
      while (next < count && !signal.aborted) {
        const { email, username, password } = userOf(next++);
        if ((await database.users.findByEmail(email)) === null) {
          const hashedPassword = await hasher.hash(password);
          await database.users.create({ email, username, hashedPassword }).catch(ignoreExisting);
        }
        onUser(++done, count);
      }
    };
    // Twice the number of lanes: no lane is idle while a user is being stored.
    await Promise.all(Array.from({ length: hasher.stats().lanes * 2 }, createRest));
  } catch (error) {
    const createError = error instanceof UnsupportedDatabaseUrl ? usageError : unavailable;
    throw createError(`--seed-database: ${describeError(error)}`);
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof UserAlreadyExists)) throw error;
}
