/** What keeps the process from serving: an exit code by sysexits.h, which the README explains, and a line for the operator. */
import { DatabaseUnavailable, UnsupportedDatabaseUrl } from "@latchkey/database";

export const EXIT = {
  /** Nothing that was foreseen; also a drain that outlasted its grace. */
  failure: 1,
  /** EX_USAGE */
  usage: 64,
  /** EX_DATAERR: the database answers, but its schema cannot be brought to this release. Trying again does not help. */
  migration: 65,
  /** EX_UNAVAILABLE: the database cannot be reached or used. Trying again may help. */
  database: 69,
  /** EX_OSERR */
  port: 71,
  /** EX_CONFIG */
  configuration: 78,
} as const;

/** Ends the start; shown without a stack. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly code = "START_FAULT";
  constructor(
    readonly exitCode: (typeof EXIT)[keyof typeof EXIT],
    message: string,
  ) {
    super(message);
  }
}

/**
 * Reasons of a database that is there and refuses a statement of a migration: PostgreSQL's classes 22, 23 and 42
 * (appendix A: data, constraints, names and privileges), and SQLite's codes for the same.
 */
const REFUSED_STATEMENT = /^(?:22|23|42)[0-9A-Z]{3}$|^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH)/;

/** The fault behind what opening or migrating the database threw. */
export function databaseStartupError(error: unknown): StartupError {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UnsupportedDatabaseUrl) {
    return new StartupError(EXIT.configuration, `DATABASE_URL: ${message}`);
  }
  const isUnavailable = error instanceof DatabaseUnavailable && !REFUSED_STATEMENT.test(error.reason);
  return new StartupError(isUnavailable ? EXIT.database : EXIT.migration, message);
}

export interface ListenOptions<Listener> {
  readonly variable: "PORT" | "METRICS_PORT";
  readonly host: string;
  readonly port: number;
  readonly open: () => Listener;
}

/** @throws {StartupError} if the port cannot be had */
export function listen<Listener>({ variable, host, port, open }: ListenOptions<Listener>): Listener {
  try {
    return open();
  } catch (error) {
    throw new StartupError(EXIT.port, `${variable} ${port} on ${host} cannot be used: ${String(error)}`);
  }
}
