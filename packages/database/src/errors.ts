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
    explanation?: string,
  ) {
    super(`The database is unavailable (${reason})${explanation === undefined ? "" : `: ${explanation}`}.`);
  }
}

/** The server responds, but its version or settings are not supported. */
export class UnsupportedDatabaseServer extends Error {
  override readonly name = "UnsupportedDatabaseServer";
  readonly code = "UNSUPPORTED_DATABASE_SERVER";

  /** @param problem a sentence about the server */
  constructor(problem: string) {
    super(`Unsupported database server: ${problem}`);
  }
}

/** The URL is invalid or its scheme is not supported. The message does not quote it because it can contain a password. */
export class UnsupportedDatabaseUrl extends Error {
  override readonly name = "UnsupportedDatabaseUrl";
  readonly code = "UNSUPPORTED_DATABASE_URL";

  /** @param problem a sentence about the URL that does not quote it */
  constructor(readonly problem: string) {
    super(`Unsupported database URL: ${problem}`);
  }
}

/** A newer release has migrated this database; this release must not write to it. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly code = "SCHEMA_TOO_NEW";

  constructor() {
    super(
      "The database schema is newer than this release: run the release that migrated it, or a later one.",
    );
  }
}
