/** The database interface, which both databases implement. */
import type { Repositories } from "./repositories/repositories.ts";

/** `newer`: a later release has migrated the schema, and all of the later migrations are compatible with this release. */
export type SchemaState = "current" | "newer";

export interface DatabaseOptions {
  /** Either `file:` with a relative or absolute path, or a URL that begins with `postgres://` or `postgresql://`. */
  readonly url: string;
  /** The folder to which a relative `file:` path refers. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** Maximum number of connections to a server; ignored for a file. @default 10 */
  readonly poolSize?: number | undefined;
  /**
   * Whether statements are prepared once per connection instead of once per query. `auto`: only on connections that are
   * proved to be direct (without a pooler), because some poolers mix up the statements of different clients. @default "auto"
   */
  readonly preparedStatements?: "auto" | "true" | "false" | undefined;
}

export interface Database extends Repositories, AsyncDisposable {
  readonly kind: "libsql" | "postgres";
  /** Runs a trivial query. Fails after at most one second. @throws DatabaseUnavailable */
  ping(): Promise<void>;
  /**
   * Migrates the schema to this release. Several processes can call `migrate` at the same time. Fails after a minute.
   * @param log receives a sentence for each attempt that did not get a lock on a table
   * @throws SchemaTooNew
   * @throws MigrationRejected
   * @throws DatabaseUnavailable
   */
  migrate(log?: (message: string) => void): Promise<SchemaState>;
  /**
   * Detects identity columns that are behind their tables, such as after logical replication. Cheap, and safe while other
   * processes create rows. Does nothing if the role cannot read the sequences.
   * @throws IdsBehind
   */
  checkIds(): Promise<void>;
  /** Closes all connections. Later calls of the repositories reject with `DatabaseUnavailable`. */
  close(): Promise<void>;
}
