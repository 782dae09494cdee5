/** What the repositories throw. No message here carries SQL, parameters, paths or credentials: each may be logged whole. */

/** The e-mail address or the username belongs to another account; the database's own constraint said so. */
export class UserAlreadyExists extends Error {
  override readonly name = "UserAlreadyExists";
  readonly code = "USER_ALREADY_EXISTS";

  constructor() {
    super("A user with this e-mail address or username already exists.");
  }
}

/** The database did not do what was asked, in time or at all. Whether a write reached it is unknown. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
  readonly code = "DATABASE_UNAVAILABLE";

  /**
   * @param reason the driver's or the server's own error code: `SQLITE_BUSY`, `25006`, `DEADLINE` …
   * @param explanation the same in words, for the operator
   */
  constructor(
    readonly reason: string,
    explanation?: string,
  ) {
    super(`The database is unavailable (${reason})${explanation === undefined ? "" : `: ${explanation}`}.`);
  }
}

/** The server answers, but is none that this package can keep its data in. */
export class UnsupportedDatabaseServer extends Error {
  override readonly name = "UnsupportedDatabaseServer";
  readonly code = "UNSUPPORTED_DATABASE_SERVER";

  /** @param problem a sentence about the server. */
  constructor(problem: string) {
    super(`Unsupported database server: ${problem}`);
  }
}

/** The URL names no database that this package can open. The URL itself is not repeated: it may hold a password. */
export class UnsupportedDatabaseUrl extends Error {
  override readonly name = "UnsupportedDatabaseUrl";
  readonly code = "UNSUPPORTED_DATABASE_URL";

  /** @param problem a sentence about the URL that does not quote it. */
  constructor(readonly problem: string) {
    super(`Unsupported database URL: ${problem}`);
  }
}

/** A newer release has already migrated this database: an older one must not write to it. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
  readonly code = "SCHEMA_TOO_NEW";

  constructor() {
    super(
      "The database schema is newer than this release: run the release that migrated it, or a later one.",
    );
  }
}
