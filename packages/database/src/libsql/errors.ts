/** Turns what libsql throws into domain errors, and says which failures another attempt may cure. */

import { LibsqlError } from "@libsql/client";
import { DrizzleQueryError } from "drizzle-orm";
import { DatabaseUnavailable, UserAlreadyExists } from "../errors.ts";

/** Another process holds the lock that the statement needs (https://sqlite.org/rescode.html). */
const lockCodes = new Set(["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"]);

const cannotOpen = "SQLITE_CANTOPEN";

/** What an operator can do something about, by primary result code. */
const explanations: Readonly<Record<string, string>> = {
  SQLITE_BUSY: "another process held the write lock for too long",
  [cannotOpen]: "the file cannot be opened",
  SQLITE_CORRUPT: "the file is damaged",
  SQLITE_FULL: "the disk is full",
  SQLITE_NOTADB: "the file is no database",
  SQLITE_READONLY: "the file cannot be written",
};

/** Drizzle's wrapper prints SQL and parameters, so it is taken off before anyone can log it. */
function unwrap(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

/** Whether the statement was refused before it did anything, and only because of another process. */
export function isLockConflict(error: unknown): boolean {
  const cause = unwrap(error);
  return cause instanceof LibsqlError && lockCodes.has(cause.code);
}

/** The domain error for a failed query; what libsql did not throw is a mistake of ours and stays what it is. */
export function domainError(error: unknown): unknown {
  const cause = unwrap(error);
  if (cause instanceof LibsqlError) {
    const code = cause.extendedCode ?? cause.code;
    return code === "SQLITE_CONSTRAINT_UNIQUE"
      ? new UserAlreadyExists()
      : new DatabaseUnavailable(code, explanations[cause.code]);
  }
  // A connection that cannot be opened is the library's plain error, with the path in its text and an empty code.
  return cause instanceof Error && "code" in cause && cause.code === ""
    ? new DatabaseUnavailable(cannotOpen, explanations[cannotOpen])
    : cause;
}
