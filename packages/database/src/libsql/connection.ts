/** A connection that prepares each statement only once, because preparing a statement takes as long as running it. */
import type { SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import Database from "libsql";
import { type Orm, withPostgresTypes } from "../dialect.ts";
import { isLockConflict, toDomainError } from "./errors.ts";

type Statement = ReturnType<Database.Database["prepare"]>;

export interface Connection {
  readonly database: Database.Database;
  /** Returns a statement whose rows are arrays. */
  prepare(sql: string): Statement;
  /**
   * Moves the write-ahead log into the file and empties the log, because libsql does not do so when it closes a file. While another
   * process reads or writes, a part stays in the log: that process moves it. Does nothing in a transaction.
   */
  checkpoint(): void;
  /** Releases the statements, too: libsql keeps the file open until all of them are collected. */
  close(): void;
}

/** Limits the memory: INSERTs with different numbers of rows are different statements. */
const MAX_STATEMENTS = 100;

/**
 * By default, libsql uses `synchronous = FULL`: each commit is synced to the disk.
 * @param timeoutMs how long a statement waits for a lock. The wait blocks the event loop. @default 0
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
    checkpoint: () => {
      if (database.inTransaction) return;
      try {
        database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (error) {
        if (!isLockConflict(error)) throw toDomainError(error);
      }
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

/** @param query runs a statement and returns each row as an array */
export function createOrm(query: (sql: string, parameters: unknown[]) => unknown[]): Orm {
  const orm = drizzle(async (sql, parameters) => ({ rows: query(sql, parameters) }));
  return withPostgresTypes<Orm>(Object.assign(orm, { execute: (statement: SQL) => orm.run(statement) }));
}
