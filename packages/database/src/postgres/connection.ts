/** Opens connections to the server, and proves that one is direct: no pooler lies between it and its server process. */
import type { PostgresAddress } from "@latchkey/contracts";
import { SQL } from "bun";
import type { DatabaseOptions } from "../repositories.ts";
import { singleRow } from "../row-decoder.ts";

/** Shared by all connections of a process. `auto` becomes `false` for good after a connection without a proof. */
export interface PreparedStatements {
  mode: NonNullable<DatabaseOptions["preparedStatements"]>;
}

export interface ConnectOptions {
  readonly address: PostgresAddress;
  /** In milliseconds. The server's statement timeout is shorter, because a slow query must not replace the pool. */
  readonly deadlineMs: number;
}

interface Connections {
  /** Maximum number of connections. */
  readonly max: number;
  /** Whether statements have names. The client assigns them in the order of their first use: `P0`, `P1` … */
  readonly prepare: boolean;
  /** Called when a connection closes or cannot be opened. */
  readonly onclose?: () => void;
}

const CONNECTION_TIMEOUT_MS = 3_000;

/** Creates a client; the first query opens a connection. */
export function connect({ address, deadlineMs, max, prepare, onclose }: ConnectOptions & Connections) {
  // Between 6/8 and 7/8 of the deadline. Random, because it must differ from that of a session which a pooler opened for others.
  const statementTimeoutMs = Math.floor((deadlineMs * (6 + Math.random())) / 8);
  const sql = new SQL({
    ...address,
    adapter: "postgres",
    max,
    prepare,
    connectionTimeout: CONNECTION_TIMEOUT_MS / 1_000,
    connection: {
      application_name: "latchkey",
      statement_timeout: statementTimeoutMs,
    },
    ...(onclose && { onclose }),
  });
  return {
    sql,
    /**
     * Whether the session was started with the startup parameters of this client. The source of a value that a pooler set
     * afterwards is `session`, that of a role or a database is `user` or `database`.
     */
    isDirect: async (): Promise<boolean> => {
      const query = `
        select setting = '${statementTimeoutMs}' and source = 'client' as "isDirect"
        from pg_settings where name = 'statement_timeout'`;
      // A simple query has no prepared statement.
      const rows: { isDirect: boolean }[] = await sql.unsafe(query).simple();
      return singleRow(rows).isDirect;
    },
  };
}
