/** The database interface. Every implementation passes `test/support/repository-conformance.ts`. */

/** RFC 3339 in UTC with milliseconds, as on the wire: `2026-01-02T03:04:05.678Z`. */
export type Timestamp = string;

export interface User {
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly hashedPassword: string;
  readonly isActive: boolean;
  /** A token is revoked if its version differs, unless it is the one below. */
  readonly tokenVersion: number;
  /** The `jti` of the token that made the latest password change. That token is still valid. */
  readonly passwordChangeTokenId: string | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly completed: boolean;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Selects the first `limit` rows with an id greater than `after`, in ascending order of id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/** What must be true in the statement of a conditional change: the user is active, and this token is valid. */
export interface ValidToken {
  /** The user's version, or a lower one if the token made the latest password change. */
  readonly version: number;
  readonly tokenId: string | null;
  /** With it, the user must also have this hash. */
  readonly hashedPassword?: string;
}

export interface UserChange {
  readonly username?: string;
  /** A new hash revokes all tokens except the first one below, and deletes all networks except the second. */
  readonly hashedPassword?: string;
  /** Stored with a new hash. @default null */
  readonly passwordChangeTokenId?: string | null;
  readonly keptNetworkDigest?: string | undefined;
}

export interface NewUser extends Pick<User, "email" | "username" | "hashedPassword"> {
  /** A network that is stored together with the user. */
  readonly networkDigest?: string | undefined;
}

/** The largest number of networks that are stored for one user. */
export const MAX_NETWORKS = 20;

/** Ids are positive safe integers and never reused. Every method can reject with `DatabaseUnavailable`. */
export interface UserRepository {
  /** @throws UserAlreadyExists */
  create(user: NewUser): Promise<User>;
  findById(id: number): Promise<User | null>;
  /**
   * Compares exactly: the caller must trim and lowercase the address. Also returns when the network was last stored for
   * this user, or null.
   */
  findByEmail(
    email: string,
    networkDigest?: string,
  ): Promise<(User & { readonly networkSeenAt: Timestamp | null }) | null>;
  /**
   * Stores the network with the current time; of more than `MAX_NETWORKS` of one user, the oldest are deleted.
   * @param tokenVersion stores nothing if the user has another one. @default any
   */
  storeNetwork(userId: number, networkDigest: string, tokenVersion?: number): Promise<void>;
  /** Compares exactly. */
  findByUsername(username: string): Promise<User | null>;
  /**
   * Also updates `updatedAt`, unless `change` is empty. Returns null if the user does not exist or the condition is not
   * met; an empty change has no condition.
   * @throws UserAlreadyExists
   */
  update(id: number, change: UserChange, condition?: ValidToken): Promise<User | null>;
  /** Revokes all tokens. Returns null if the user does not exist or the condition is not met. */
  revokeTokens(id: number, condition?: ValidToken): Promise<User | null>;
  setActive(id: number, isActive: boolean): Promise<User | null>;
  /** Returns false if the user does not exist or the condition is not met. */
  delete(id: number, condition?: ValidToken): Promise<boolean>;
  list(page: PageRequest): Promise<User[]>;
}

/** Ids are positive safe integers and never reused. Every method can reject with `DatabaseUnavailable`. */
export interface TodoRepository {
  create(todo: { title: string; completed: boolean }): Promise<Todo>;
  findById(id: number): Promise<Todo | null>;
  /** Also updates `updatedAt`, unless `change` is empty. Returns null if the todo does not exist. */
  update(id: number, change: { title?: string; completed?: boolean }): Promise<Todo | null>;
  /** Returns false if the todo does not exist. */
  delete(id: number): Promise<boolean>;
  list(page: PageRequest): Promise<Todo[]>;
}

/** `newer`: a later release has migrated the schema, and all of its migrations are compatible with this release. */
export type SchemaState = "current" | "newer";

export interface DatabaseOptions {
  /** `file:` with a relative or absolute path, `postgres://` or `postgresql://`. */
  readonly url: string;
  /** The folder that a relative `file:` path refers to. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** Maximum number of connections to a server; ignored for a file. @default 10 */
  readonly poolSize?: number | undefined;
  /**
   * Whether a server prepares statements once per connection instead of once per query; `auto`: only on connections that
   * are proved to be direct, because some poolers mix up the statements of their clients. @default "auto"
   */
  readonly preparedStatements?: "auto" | "true" | "false" | undefined;
}

export interface Database extends AsyncDisposable {
  readonly kind: "libsql" | "postgres";
  readonly users: UserRepository;
  readonly todos: TodoRepository;
  /**
   * Runs a trivial query; fails after a second at the latest.
   * @throws DatabaseUnavailable
   */
  ping(): Promise<void>;
  /**
   * Migrates the schema to this release; several processes can call it at the same time. Fails after a minute.
   * @param log receives a sentence for each attempt that did not get a lock on a table
   * @throws SchemaTooNew
   * @throws MigrationRejected
   * @throws DatabaseUnavailable
   */
  migrate(log?: (message: string) => void): Promise<SchemaState>;
  /** Closes all connections; later calls of the repositories reject with `DatabaseUnavailable`. */
  close(): Promise<void>;
}
