/** What so many logins ask of PostgreSQL, Redis and memory. Every factor is one that the service's code or a measurement gives. */

/** A login looks its account up by e-mail, and writes nothing. */
export const QUERIES_PER_LOGIN = 1;
/** The default quota and that of the login route, one script each. */
export const SCRIPTS_PER_LOGIN = 2;
/** A replica opens one more connection while it starts, for its migrations. */
const CONNECTIONS_AT_START = 1;
/** A pool that is replaced after the server hung keeps its connections for some seconds beside those of the new one. */
const POOLS_AT_ONCE = 2;
/** An idle replica's resident memory stays below it; lanes add a few kilobytes. */
const REPLICA_MEGABYTES = 150;

export interface StoresOptions {
  readonly loginsPerSecond: number;
  readonly replicas: number;
  readonly poolSize: number;
  readonly maxConnections: number;
}

export interface Stores {
  readonly postgres: {
    readonly queriesPerSecond: number;
    /** Held while all is well. */
    readonly connections: number;
    /** What `max_connections` has to bear: while all replicas start, or replace their pools. */
    readonly connectionsAtMost: number;
    readonly maxConnections: number;
    /** Whether the server must allow more, or a pooler stand before it. */
    readonly isTooMany: boolean;
  };
  /** Where the replicas share their limits. */
  readonly redis: { readonly scriptsPerSecond: number };
  readonly memoryMegabytes: number;
}

export function storesOf({ loginsPerSecond, replicas, poolSize, maxConnections }: StoresOptions): Stores {
  const connectionsAtMost = replicas * Math.max(POOLS_AT_ONCE * poolSize, poolSize + CONNECTIONS_AT_START);
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
