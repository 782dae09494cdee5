/** A connection that prepares each statement once, because that takes as long as running it. */
import Database from "libsql";

type Statement = ReturnType<Database.Database["prepare"]>;

export interface Connection {
  readonly database: Database.Database;
  /** The rows of the statement are arrays. */
  prepare(sql: string): Statement;
}

/** Bounds the memory: an insert of many rows is a statement of its own for each number of rows. */
const MAX_STATEMENTS = 100;

/**
 * libsql's default is `synchronous = FULL`: each commit is synced.
 * @param timeoutMs how long a statement waits for a lock, blocking the event loop. @default 0
 */
export function connect(path: string, timeoutMs = 0): Connection {
  const database = new Database(path, { timeout: timeoutMs });
  const statements = new Map<string, Statement>();
  return {
    database,
    prepare: (sql) => {
      const existing = statements.get(sql);
      if (existing) return existing;
      const statement = database.prepare(sql);
      if (statement.reader) statement.raw();
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      statements.set(sql, statement);
      return statement;
    },
  };
}
