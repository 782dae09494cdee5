/** Opens connections, and checks whether they are direct: without a pooler between this process and the server. */
import type { PostgresAddress } from "@latchkey/contracts";
import { SQL } from "bun";
import type { DatabaseOptions } from "../database.ts";
import { singleRow } from "../row-decoder.ts";

/** Shared by all connections. `auto` becomes `false` for good when a connection is not proved to be direct. */
export interface PreparedStatements {
  mode: NonNullable<DatabaseOptions["preparedStatements"]>;
}

export interface ConnectOptions {
  readonly address: PostgresAddress;
  /**
   * In milliseconds. The server's `statement_timeout` is shorter: it ends a slow query before the deadline, at which the
   * client would replace the pool.
   */
  readonly deadlineMs: number;
}

interface Connections {
  /** Maximum number of connections. */
  readonly max: number;
  /** Whether statements have names. The client assigns the names `P0`, `P1` … in the order of first use. */
  readonly prepare: boolean;
  /** Called when a connection closes or cannot be opened. */
  readonly onclose?: () => void;
}

const CONNECTION_TIMEOUT_MS = 3_000;

/**
 * Statements assume these settings: a stricter isolation level rejects concurrent changes (40001), and another search path leads
 * to other tables or none.
 */
const SESSION_SETTINGS = `set_config('default_transaction_isolation', 'read committed', false)
  || set_config('search_path', 'public', false)`;

/** Creates a client. The first query opens a connection. */
export function connect({ address, deadlineMs, max, prepare, onclose }: ConnectOptions & Connections) {
  // Between 6/8 and 7/8 of the deadline. The timeout is random, because it must differ from the timeout of a session that a
  // pooler opened for another client.
  const statementTimeoutMs = Math.floor((deadlineMs * (6 + Math.random())) / 8);
  const sql = new SQL({
    url: address.url,
    hostname: address.hostname,
    port: address.port,
    username: address.username,
    password: address.password,
    database: address.database,
    adapter: "postgres",
    max,
    prepare,
    connectionTimeout: CONNECTION_TIMEOUT_MS / 1_000,
    connection: {
      application_name: address.applicationName ?? "latchkey",
      statement_timeout: statementTimeoutMs,
    },
    ...(onclose && { onclose }),
  });
  return {
    sql,
    /**
     * Must be the first query of a connection. `isDirect`: whether the session was started with this client's startup parameters.
     * In that case, the source of `statement_timeout` is `client`. If a pooler sets it later, the source is `session`. If it is
     * set for a role or a database, the source is `user` or `database`. Only a direct session gets settings that replace those of
     * the role, because a pooler gives a session to other clients, and rejects most startup parameters.
     */
    begin: async (): Promise<{ isDirect: boolean }> => {
      const query = `
        select "isDirect", case when "isDirect" then ${SESSION_SETTINGS} end
        from (
          select setting = '${statementTimeoutMs}' and source = 'client' as "isDirect"
          from pg_settings where name = 'statement_timeout'
        ) proof`;
      // A simple query does not use a prepared statement.
      const rows: { isDirect: boolean }[] = await sql.unsafe(query).simple();
      return singleRow(rows);
    },
  };
}
