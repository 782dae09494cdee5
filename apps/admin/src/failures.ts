/** What can go wrong, the exit code of each and the sentence that tells the operator; no failure ever shows a stack. */
import { printable } from "./output.ts";

/**
 * 64 and up as sysexits.h has them, and as the service uses them: EX_USAGE, EX_DATAERR, EX_UNAVAILABLE, EX_CONFIG;
 * 130 is 128 + SIGINT, as shells count.
 */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 64,
  migration: 65,
  database: 69,
  configuration: 78,
  interrupted: 130,
} as const;

/** The command line, or what was typed or piped in, is not what the command takes. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE_ERROR";
}

/** An environment variable is not what it may be; a line for each. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "CONFIGURATION_ERROR";
}

/** The database is there in part at most: it was never migrated, or by an older release. */
export class SchemaMissing extends Error {
  override readonly name = "SchemaMissing";
  readonly code = "SCHEMA_MISSING";
}

export class AccountNotFound extends Error {
  override readonly name = "AccountNotFound";
  readonly code = "ACCOUNT_NOT_FOUND";
}

/** The operator was asked and did not agree. */
export class Declined extends Error {
  override readonly name = "Declined";
  readonly code = "DECLINED";
}

/** Ctrl-C at a prompt: whoever pressed it needs no explanation. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly code = "INTERRUPTED";
}

const EXIT_BY_CODE: Readonly<Record<string, number>> = {
  USAGE_ERROR: EXIT.usage,
  CONFIGURATION_ERROR: EXIT.configuration,
  UNSUPPORTED_DATABASE_URL: EXIT.configuration,
  DATABASE_UNAVAILABLE: EXIT.database,
  UNSUPPORTED_DATABASE_SERVER: EXIT.migration,
  SCHEMA_TOO_NEW: EXIT.migration,
  SCHEMA_MISSING: EXIT.database,
  INTERRUPTED: EXIT.interrupted,
};

export interface Failure {
  readonly exitCode: number;
  /** For standard error, without the line's end; empty where nothing needs saying. */
  readonly text: string;
}

export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error))
    return { exitCode: EXIT.refused, text: "Something failed without a reason." };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const exitCode = EXIT_BY_CODE[code] ?? EXIT.refused;
  if (error instanceof Interrupted) return { exitCode, text: "" };
  return { exitCode, text: error.message.split("\n").map(printable).join("\n") };
}
