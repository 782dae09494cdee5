/** Exit codes, and the errors that cause them. The message of a `CliError` is printed without a stack trace. */

/**
 * Codes 64 to 78 are those of sysexits.h: EX_USAGE, EX_DATAERR, EX_UNAVAILABLE, EX_OSERR and EX_CONFIG. Codes 130 and 143 are 128
 * plus the signal number: 2 for SIGINT, 15 for SIGTERM.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 64,
  /** Invalid data, such as a backup, or a database whose schema cannot be migrated: a restart does not help. */
  dataError: 65,
  /** A database that cannot be reached or used: a restart can help. */
  unavailable: 69,
  osError: 71,
  config: 78,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODES: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: "OK",
  [EXIT.failed]: "FAILED",
  [EXIT.usage]: "USAGE_ERROR",
  [EXIT.dataError]: "DATA_ERROR",
  [EXIT.unavailable]: "UNAVAILABLE",
  [EXIT.osError]: "OS_ERROR",
  [EXIT.config]: "CONFIGURATION_ERROR",
  [EXIT.interrupted]: "INTERRUPTED",
  [EXIT.terminated]: "TERMINATED",
};

export class CliError extends Error {
  override readonly name = "CliError";

  /**
   * @param message one or more sentences. An empty message is printed only as JSON
   * @param code identifies the error for programs. @default the value in `CODES` for the exit code
   */
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    readonly code: string = CODES[exitCode],
  ) {
    super(message);
  }
}

/** Creates an error for an invalid command line or an invalid input. */
export const usageError = (message: string): CliError => new CliError(message, EXIT.usage);

/** Creates an error for a resource that the command needs but cannot use. */
export const unavailable = (message: string): CliError => new CliError(message, EXIT.unavailable);

export const describeError = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The exit codes by the `code` of an error from the database package. */
const DATABASE_EXIT_CODES: Readonly<Record<string, ExitCode>> = {
  UNSUPPORTED_DATABASE_URL: EXIT.config,
  DATABASE_UNAVAILABLE: EXIT.unavailable,
  UNSUPPORTED_DATABASE_SERVER: EXIT.dataError,
  INVALID_BACKUP: EXIT.dataError,
  COPY_REJECTED: EXIT.dataError,
  IDS_EXHAUSTED: EXIT.dataError,
  IDS_BEHIND: EXIT.dataError,
  SCHEMA_TOO_NEW: EXIT.dataError,
  MIGRATION_REJECTED: EXIT.dataError,
};

/** Converts an error of the database to a `CliError` with the same `code`. @param otherwise the exit code of other errors */
export function databaseError(error: unknown, otherwise: ExitCode): CliError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new CliError(describeError(error), DATABASE_EXIT_CODES[code] ?? otherwise, code || undefined);
}
