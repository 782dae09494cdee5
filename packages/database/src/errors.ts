/**
 * The errors that this package throws. The messages contain no SQL, parameters or credentials, so all messages can be logged.
 * A message contains a path only if the user of this process cannot create or write the file or folder at that path.
 */
import { ID_MAX } from "@latchkey/contracts";

/** Runs a query of a driver, and converts the driver's errors to the errors of this file. */
export type Attempt = <T>(query: () => Promise<T>) => Promise<T>;

/** `code` identifies the error. It never changes. `name` is that of the class. */
abstract class DatabaseError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Another user has this e-mail address or username. The database's unique constraints detect this error. */
export class UserAlreadyExists extends DatabaseError {
  /** @param field the taken value; `email` if both are taken. The repository of users always sets it */
  constructor(readonly field?: "email" | "username") {
    super("USER_ALREADY_EXISTS", "A user with this e-mail address or username already exists.");
  }
}

/** Another user has this identity. */
export class IdentityAlreadyUsed extends DatabaseError {
  constructor() {
    super("IDENTITY_ALREADY_USED", "Another user has this identity.");
  }
}

/** The user has the maximum number of identities. */
export class TooManyIdentities extends DatabaseError {
  constructor() {
    super("TOO_MANY_IDENTITIES", "The user has the maximum number of identities.");
  }
}

/** Without the passkey or identity that was to be removed, the user could not log in. */
export class LastLogin extends DatabaseError {
  constructor() {
    super("LAST_LOGIN", "The user could not log in without it.");
  }
}

/** The database failed or did not respond in time. It is unknown whether a write was committed. */
export class DatabaseUnavailable extends DatabaseError {
  /**
   * @param reason the error code of the driver or the server: `SQLITE_BUSY`, `25006`, `DEADLINE` …
   * @param explanation the meaning of the code, for the operator
   */
  constructor(
    readonly reason: string,
    readonly explanation?: string,
  ) {
    super("DATABASE_UNAVAILABLE", `The database is unavailable ${describeReason(reason, explanation)}.`);
  }
}

const describeReason = (reason: string, explanation?: string): string =>
  `(${reason})${explanation === undefined ? "" : `: ${explanation}`}`;

/** The server responds, but its version or settings are not supported. */
export class UnsupportedDatabaseServer extends DatabaseError {
  /** @param problem a sentence about the server */
  constructor(problem: string) {
    super("UNSUPPORTED_DATABASE_SERVER", `Unsupported database server: ${problem}`);
  }
}

/** The file that should replace an embedded database is not a copy of an embedded database. */
export class InvalidBackup extends DatabaseError {
  /** @param problem completes the sentence that begins with "The backup" */
  constructor(problem: string) {
    super("INVALID_BACKUP", `The backup ${problem}.`);
  }
}

/** The copy to another database cannot be complete, so nothing is copied. */
export class CopyRejected extends DatabaseError {
  constructor(message: string) {
    super("COPY_REJECTED", message);
  }
}

/** The next id would not be a safe integer, so nothing is changed. */
export class IdsExhausted extends DatabaseError {
  constructor(table: string) {
    super("IDS_EXHAUSTED", `The ids of the table ${table} would exceed ${ID_MAX}; nothing was changed.`);
  }
}

/** New rows of a table would get ids that other rows have, so that the database would reject them. */
export class IdsBehind extends DatabaseError {
  constructor(table: string) {
    super(
      "IDS_BEHIND",
      `The next id of the table ${table} is already used, as after logical replication, which copies no sequences. Stop the service everywhere, and run \`bun run admin raise-ids --keep-tokens\` or, if transactions can be lost, \`bun run admin raise-ids\`.`,
    );
  }
}

/**
 * The codes with which a reachable database rejects a statement: PostgreSQL's classes 22 (data), 23 (constraints) and 42
 * (names and privileges), described in appendix A of the PostgreSQL documentation, and the equivalent codes of SQLite.
 */
const REJECTED_STATEMENT = /^(?:22|23|42)[0-9A-Z]{3}$|^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH)/;

const isRejected = (error: unknown): error is DatabaseUnavailable =>
  error instanceof DatabaseUnavailable && REJECTED_STATEMENT.test(error.reason);

/** Returns the domain error for an INSERT that failed during a copy. */
export function toCopyError(error: unknown, table: string): unknown {
  if (!isRejected(error)) return error;
  const reason = describeReason(error.reason, error.explanation);
  return new CopyRejected(`The target rejected a row of the table ${table} ${reason}.`);
}

/** The database works, but it rejected a statement of a migration. A retry does not help. */
export class MigrationRejected extends DatabaseError {
  constructor({ reason, explanation }: DatabaseUnavailable) {
    super(
      "MIGRATION_REJECTED",
      `The database rejected the migration ${describeReason(reason, explanation)}.`,
    );
  }
}

/** Returns the domain error for a failed migration. */
export function toMigrationError(error: unknown): unknown {
  return isRejected(error) ? new MigrationRejected(error) : error;
}

/** A newer release has migrated this database. The migrated schema is not compatible with this release. */
export class SchemaTooNew extends DatabaseError {
  constructor() {
    super(
      "SCHEMA_TOO_NEW",
      "The database schema is newer than this release and not compatible with it: run the release that migrated it, or a later one.",
    );
  }
}
