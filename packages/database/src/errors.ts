/**
 * The errors that this package throws. Messages contain no SQL, parameters or credentials, so all can be logged. Only the
 * error of opening a file that cannot be written contains a path.
 */

/** Runs a driver's query and rejects with the errors of this file instead of the driver's. */
export type Attempt = <T>(query: () => Promise<T>) => Promise<T>;

/** Another user has this e-mail address or username; detected by the database's unique constraint. */
export class UserAlreadyExists extends Error {
  override readonly name = "UserAlreadyExists";
  readonly code = "USER_ALREADY_EXISTS";

  constructor() {
    super("A user with this e-mail address or username already exists.");
  }
}

/** The database failed or did not respond in time. A write may or may not have been committed. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
  readonly code = "DATABASE_UNAVAILABLE";

  /**
   * @param reason the error code of the driver or the server: `SQLITE_BUSY`, `25006`, `DEADLINE` …
   * @param explanation the meaning of the code, for the operator
   */
  constructor(
    readonly reason: string,
    readonly explanation?: string,
  ) {
    super(`The database is unavailable ${describeReason(reason, explanation)}.`);
  }
}

const describeReason = (reason: string, explanation?: string): string =>
  `(${reason})${explanation === undefined ? "" : `: ${explanation}`}`;

/** The server responds, but its version or settings are not supported. */
export class UnsupportedDatabaseServer extends Error {
  override readonly name = "UnsupportedDatabaseServer";
  readonly code = "UNSUPPORTED_DATABASE_SERVER";

  /** @param problem a sentence about the server */
  constructor(problem: string) {
    super(`Unsupported database server: ${problem}`);
  }
}

/** The file that is to replace an embedded database is not a copy of one. */
export class InvalidBackup extends Error {
  override readonly name = "InvalidBackup";
  readonly code = "INVALID_BACKUP";

  /** @param problem the rest of a sentence about the file */
  constructor(problem: string) {
    super(`The backup ${problem}.`);
  }
}

/** A copy to another database would not be complete, so the target stays empty. */
export class CopyRejected extends Error {
  override readonly name = "CopyRejected";
  readonly code = "COPY_REJECTED";
}

/**
 * Reasons for which a reachable database rejects a statement: PostgreSQL's classes 22, 23 and 42 (appendix A: data,
 * constraints, names and privileges), and the equivalent codes of SQLite.
 */
const REJECTED_STATEMENT = /^(?:22|23|42)[0-9A-Z]{3}$|^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH)/;

const isRejected = (error: unknown): error is DatabaseUnavailable =>
  error instanceof DatabaseUnavailable && REJECTED_STATEMENT.test(error.reason);

/** Returns the domain error of a failed INSERT of a copy. */
export function toCopyError(error: unknown, table: string): unknown {
  if (!isRejected(error)) return error;
  const reason = describeReason(error.reason, error.explanation);
  return new CopyRejected(`The target rejected a row of the table ${table} ${reason}.`);
}

/** The database works, but it rejected a statement of a migration. Another attempt does not help. */
export class MigrationRejected extends Error {
  override readonly name = "MigrationRejected";
  readonly code = "MIGRATION_REJECTED";

  constructor({ reason, explanation }: DatabaseUnavailable) {
    super(`The database rejected the migration ${describeReason(reason, explanation)}.`);
  }
}

/** Returns the domain error of a failed migration. */
export function toMigrationError(error: unknown): unknown {
  return isRejected(error) ? new MigrationRejected(error) : error;
}

/** A newer release has migrated this database, and its schema is not compatible with this release. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly code = "SCHEMA_TOO_NEW";

  constructor() {
    super(
      "The database schema is newer than this release and not compatible with it: run the release that migrated it, or a later one.",
    );
  }
}
