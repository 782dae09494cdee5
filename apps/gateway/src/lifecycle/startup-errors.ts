/** Errors that prevent the start: an exit code of sysexits.h, documented in `docs/operations.md`, and one line for the operator. */
import { DatabaseUnavailable, UnsupportedDatabaseUrl } from "@latchkey/database";

export const EXIT = {
  /** An unexpected error, or a shutdown that exceeded its grace period. */
  failure: 1,
  /** EX_USAGE */
  usage: 64,
  /** EX_DATAERR: the database works, but its schema cannot be migrated. A restart does not help. */
  migration: 65,
  /** EX_UNAVAILABLE: the database cannot be reached or used. A restart can help. */
  database: 69,
  /** EX_OSERR */
  port: 71,
  /** EX_CONFIG */
  configuration: 78,
} as const;

/** Printed without a stack trace. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly code = "STARTUP_ERROR";
  constructor(
    readonly exitCode: (typeof EXIT)[keyof typeof EXIT],
    message: string,
  ) {
    super(message);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Classifies an error thrown while the database was opened or migrated. */
export function databaseStartupError(error: unknown): StartupError {
  const message = messageOf(error);
  if (error instanceof UnsupportedDatabaseUrl) {
    return new StartupError(EXIT.configuration, `DATABASE_URL: ${message}`);
  }
  return new StartupError(error instanceof DatabaseUnavailable ? EXIT.database : EXIT.migration, message);
}

/** @throws {StartupError} if the port is not available */
export function listen<Listener>(
  variable: "PORT" | "METRICS_PORT",
  { host, port }: { readonly host: string; readonly port: number },
  open: () => Listener,
): Listener {
  try {
    return open();
  } catch (error) {
    const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const advice = isInUse ? `; set another one, such as ${variable}=${(port % 65_535) + 1}` : "";
    const message = `${variable} ${port} on ${host} is not available: ${messageOf(error)}${advice}`;
    throw new StartupError(EXIT.port, message);
  }
}
