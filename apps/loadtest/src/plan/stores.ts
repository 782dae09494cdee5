/** The load on PostgreSQL, Redis and memory. Every factor is taken from the service's code or from a measurement. */

/** A login reads one user by e-mail and writes nothing. */
export const QUERIES_PER_LOGIN = 1;
/** One script for the default quota and one for the quota of logins. */
export const SCRIPTS_PER_LOGIN = 2;
/** A starting replica opens one more connection for its migrations. */
const CONNECTIONS_AT_START = 1;
/** After a server hang, the connections of the replaced pool stay open for some seconds beside those of the new pool. */
const CONCURRENT_POOLS = 2;
/** Upper bound of the resident memory of an idle replica; lanes add a few kilobytes. */
const REPLICA_MEGABYTES = 150;

export interface StoresOptions {
  /** Above 0. */
  readonly loginsPerSecond: number;
  readonly replicas: number;
  /** PostgreSQL connections of each replica. */
  readonly poolSize: number;
  /** `max_connections` of PostgreSQL. */
  readonly maxConnections: number;
}

export interface Stores {
  readonly postgres: {
    readonly queriesPerSecond: number;
    /** In normal operation. */
    readonly connections: number;
    /** While all replicas start or replace their pools; `max_connections` must allow them. */
    readonly connectionsAtMost: number;
    readonly maxConnections: number;
    /** Whether the server must allow more connections, or a pooler is required. */
    readonly isTooMany: boolean;
  };
  /** If the replicas share their rate limits. */
  readonly redis: { readonly scriptsPerSecond: number };
  readonly memoryMegabytes: number;
}

export function storesOf({ loginsPerSecond, replicas, poolSize, maxConnections }: StoresOptions): Stores {
  const connectionsAtMost = replicas * Math.max(CONCURRENT_POOLS * poolSize, poolSize + CONNECTIONS_AT_START);
  return {
    postgres: {
      queriesPerSecond: QUERIES_PER_LOGIN * loginsPerSecond,
      connections: replicas * poolSize,
      connectionsAtMost,
      maxConnections,
      isTooMany: connectionsAtMost >= maxConnections,
    },
    redis: { scriptsPerSecond: SCRIPTS_PER_LOGIN * loginsPerSecond },
    memoryMegabytes: replicas * REPLICA_MEGABYTES,
  };
}
