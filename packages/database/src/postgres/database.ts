/** Puts the parts of the PostgreSQL database together. */

import { sql } from "drizzle-orm";
import type { Database } from "../repositories.ts";
import { openClient, withDeadline } from "./client.ts";
import { migrate } from "./migrate.ts";
import { createTodoRepository } from "./todos.ts";
import { parsePostgresUrl } from "./url.ts";
import { createUserRepository } from "./users.ts";

export interface PostgresOptions {
  /** A `postgres:` or `postgresql:` URL with host, user and database. */
  readonly url: string;
  /** Connections held at most. @default 10 */
  readonly poolSize?: number | undefined;
  /** How long a query may take before it is given up, in milliseconds, the wait for a connection included. @default 4000 */
  readonly deadlineMs?: number;
}

const pingDeadlineMs = 900;

/**
 * Contacts no server yet: the first query does.
 * @throws UnsupportedDatabaseUrl
 */
export function openPostgresDatabase({ url, poolSize = 10, deadlineMs = 4_000 }: PostgresOptions): Database {
  const address = parsePostgresUrl(url);
  const client = openClient({ address, poolSize, deadlineMs });
  const { orm, attempt, close } = client;
  return {
    kind: "postgres",
    users: createUserRepository(client),
    todos: createTodoRepository(client),
    // The query keeps its own, longer deadline, so that also a pool that only pings use is replaced when it is stuck.
    ping: async () =>
      void (await withDeadline(
        attempt(() => orm.execute(sql`select 1`)),
        pingDeadlineMs,
      )),
    migrate: () => migrate(address),
    close,
    [Symbol.asyncDispose]: close,
  };
}
