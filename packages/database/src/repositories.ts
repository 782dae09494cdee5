/** What a database is to the rest of the service. Every implementation passes `test/repository-conformance.ts` unchanged. */

export interface User {
  readonly id: number;
  readonly email: string;
  readonly username: string;
  readonly hashedPassword: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly completed: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stretch of a collection in ascending order of `id`: the rows after `after` (exclusive), at most `limit` of them. */
export interface Page {
  readonly after: number;
  readonly limit: number;
}

/** What a user must still be for an update to happen. */
export type ExpectedUser = Pick<User, "hashedPassword" | "isActive">;

/** Ids are positive safe integers, never used twice. Every member may reject with `DatabaseUnavailable`. */
export interface UserRepository {
  /** @throws UserAlreadyExists */
  create(user: { email: string; username: string; hashedPassword: string }): Promise<User>;
  findById(id: number): Promise<User | null>;
  /** Compares exactly: the caller has trimmed and lowercased the address. */
  findByEmail(email: string): Promise<User | null>;
  /**
   * Refreshes `updatedAt`, unless `change` is empty, which changes nothing. Compares `expected` and writes in one
   * statement; `null` if the user does not exist or differs from `expected`.
   * @throws UserAlreadyExists
   */
  update(
    id: number,
    change: { username?: string; hashedPassword?: string },
    expected?: ExpectedUser,
  ): Promise<User | null>;
  setActive(id: number, isActive: boolean): Promise<User | null>;
  /** Whether there was such a user. */
  delete(id: number): Promise<boolean>;
  list(page: Page): Promise<User[]>;
}

/** Ids are positive safe integers, never used twice. Every member may reject with `DatabaseUnavailable`. */
export interface TodoRepository {
  create(todo: { title: string; completed: boolean }): Promise<Todo>;
  findById(id: number): Promise<Todo | null>;
  /** Refreshes `updatedAt`, unless `change` is empty, which changes nothing; `null` when there is no such todo. */
  update(id: number, change: { title?: string; completed?: boolean }): Promise<Todo | null>;
  /** Whether there was such a todo. */
  delete(id: number): Promise<boolean>;
  list(page: Page): Promise<Todo[]>;
}

export interface Database extends AsyncDisposable {
  readonly kind: "libsql" | "postgres";
  readonly users: UserRepository;
  readonly todos: TodoRepository;
  /**
   * Runs a trivial query, within a second or not at all.
   * @throws DatabaseUnavailable
   */
  ping(): Promise<void>;
  /**
   * Brings the schema up to this release; safe while other processes do the same.
   * @throws SchemaTooNew
   * @throws DatabaseUnavailable
   */
  migrate(): Promise<void>;
  /** Ends every connection; later calls of the repositories reject with `DatabaseUnavailable`. */
  close(): Promise<void>;
}
