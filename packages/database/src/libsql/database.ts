/** Composes the libsql database from its client, repositories and migrations. */
import { type SQL, sql } from "drizzle-orm";
import { QueryBuilder } from "drizzle-orm/sqlite-core";
import { createOutboxRepository } from "../outbox.ts";
import { createPasskeyRepository } from "../passkeys.ts";
import type { Database } from "../repositories.ts";
import type { Orm, RepositoryClient } from "../repository-client.ts";
import type { Select } from "../row-decoder.ts";
import { createTodoRepository } from "../todos.ts";
import { createUserRepository } from "../users.ts";
import { type LibsqlClient, openClient } from "./client.ts";
import { migrate } from "./migrate.ts";
import { createRetry } from "./retry.ts";
import * as schema from "./schema.ts";

/** The file and its folder are created if they do not exist. */
interface LibsqlOptions {
  readonly path: string;
  /** How long a statement waits while another process holds the write lock, in milliseconds. @default 4000 */
  readonly busyTimeoutMs?: number;
}

const PING_TIMEOUT_MS = 900;

/** The cast is safe for the same reason as that of `toColumns`. */
export function createRepositories({ reader, writer }: LibsqlClient) {
  const prepare = <Row>(query: Select<Row>) => {
    const run = reader.prepare(query);
    return (values: Record<string, unknown>) => reader.attempt(() => run(values));
  };
  const execute = (statement: SQL) => writer.orm.run(statement);
  const orm = Object.assign(writer.orm, { execute }) as unknown as Orm;
  const client: RepositoryClient = {
    orm,
    attempt: writer.attempt,
    transact: (queries) => writer.attempt(() => queries(orm)),
    attemptAll: (...queries) =>
      writer.attempt(async () => {
        for (const query of queries) await query();
      }),
    prepare,
  };
  return {
    users: createUserRepository(client, schema),
    todos: createTodoRepository(client, schema),
    passkeys: createPasskeyRepository(client, schema),
    outbox: createOutboxRepository(client, schema),
  };
}

/** @throws DatabaseUnavailable */
export async function openLibsqlDatabase({ path, busyTimeoutMs = 4_000 }: LibsqlOptions): Promise<Database> {
  const client = await openClient(path, busyTimeoutMs);
  const attemptPing = createRetry(PING_TIMEOUT_MS);
  // A query without a table would not read the file.
  const countTables = client.reader.prepare(
    new QueryBuilder().select({ count: sql<number>`count(*)` }).from(sql`sqlite_schema`),
  );
  const close = async () => client.close();
  try {
    // Takes the shared lock by which `restoreFile` detects that the file is open.
    await client.reader.attempt(countTables);
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    kind: "libsql",
    ...createRepositories(client),
    ping: async () => void (await attemptPing(countTables)),
    migrate: () => migrate({ path }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
