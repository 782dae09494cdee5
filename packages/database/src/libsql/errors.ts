/** Converts libsql's errors to domain errors, and identifies the errors that a retry can resolve. */
import { LibsqlError } from "@libsql/client/sqlite3";
import { DrizzleQueryError } from "drizzle-orm";
import Database from "libsql";
import { DatabaseUnavailable, UserAlreadyExists } from "../errors.ts";

/** Primary result codes of a lock conflict with another process (https://sqlite.org/rescode.html). */
const LOCK_CODES = new Set(["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"]);

const CANNOT_OPEN = "SQLITE_CANTOPEN";

/** Errors that an operator can resolve, by primary result code. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  SQLITE_BUSY: "another process held the write lock for too long",
  [CANNOT_OPEN]: "the file cannot be opened",
  SQLITE_CORRUPT: "the file is damaged",
  SQLITE_FULL: "the disk is full",
  SQLITE_NOTADB: "the file is not a database",
  SQLITE_READONLY: "the file is not writable",
};

/** Removes Drizzle's wrapper, whose message contains SQL and parameters. */
function unwrap(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

/** The extended result code of an error of `libsql` or `@libsql/client`; null for any other error. */
function resultCode(error: unknown): string | null {
  if (error instanceof LibsqlError) return error.extendedCode ?? error.code;
  return error instanceof Database.SqliteError ? error.code : null;
}

/** For example, the primary code of `SQLITE_BUSY_RECOVERY` is `SQLITE_BUSY`. */
const primaryCode = (code: string): string => /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;

/** Whether the statement failed only because another process holds a lock. Such a statement had no effect. */
export function isLockConflict(error: unknown): boolean {
  const code = resultCode(unwrap(error));
  return code !== null && LOCK_CODES.has(primaryCode(code));
}

/** Returns the domain error for a failed query. Any error that libsql did not throw is a bug and is returned unchanged. */
export function toDomainError(error: unknown): unknown {
  const cause = unwrap(error);
  const code = resultCode(cause);
  if (code !== null) {
    return code === "SQLITE_CONSTRAINT_UNIQUE"
      ? new UserAlreadyExists()
      : new DatabaseUnavailable(code, EXPLANATIONS[primaryCode(code)]);
  }
  // If a file cannot be opened, libsql throws an `Error` with an empty code and with the path in the message.
  return cause instanceof Error && "code" in cause && cause.code === ""
    ? new DatabaseUnavailable(CANNOT_OPEN, EXPLANATIONS[CANNOT_OPEN])
    : cause;
}
