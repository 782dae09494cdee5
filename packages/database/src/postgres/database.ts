/** Composes the PostgreSQL database from its client, repositories and migrations. */
import { parsePostgresUrl } from "@latchkey/contracts";
import { sql } from "drizzle-orm";
import type { Database, DatabaseOptions } from "../database.ts";
import { createRepositories } from "../repositories/repositories.ts";
import { checkIds } from "./check-ids.ts";
import { openClient, withDeadline } from "./client.ts";
import type { PreparedStatements } from "./connection.ts";
import { dialect } from "./dialect.ts";
import { migrate } from "./migrate.ts";

interface PostgresOptions extends Omit<DatabaseOptions, "baseDirectory"> {
  /** Maximum time of a query including the wait for a connection, in milliseconds. @default 4000 */
  readonly deadlineMs?: number;
  /** See `ConnectionPoolOptions`. */
  readonly maxLifeMs?: number;
}

const PING_DEADLINE_MS = 900;

/** The first query opens a connection. @throws UnsupportedDatabaseUrl */
export function openPostgresDatabase({
  url,
  poolSize = 10,
  preparedStatements: mode = "auto",
  deadlineMs = 4_000,
  maxLifeMs,
}: PostgresOptions): Database {
  const address = parsePostgresUrl(url);
  const preparedStatements: PreparedStatements = { mode };
  const client = openClient({ address, size: poolSize, preparedStatements, deadlineMs, maxLifeMs });
  const { orm, run, close } = client;
  return {
    kind: "postgres",
    ...createRepositories(client, dialect),
    // After a ping has failed, `run` continues until its own, longer deadline. At that deadline, `run` replaces a stuck pool,
    // even if only pings use the pool.
    ping: async () => void (await withDeadline(run(orm.execute(sql`select 1`)), PING_DEADLINE_MS)),
    migrate: (log) => migrate({ address, preparedStatements, log }),
    checkIds: () => checkIds(client),
    close,
    [Symbol.asyncDispose]: close,
  };
}
