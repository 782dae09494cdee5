/** Exit codes, and the errors that cause them. The message of a `CliError` is printed as it is, without a stack. */

/** The codes from 64 are those of sysexits.h: EX_USAGE, EX_DATAERR, EX_UNAVAILABLE, EX_CONFIG; 130 is 128 + SIGINT. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 64,
  dataError: 65,
  unavailable: 69,
  config: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODES: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: "OK",
  [EXIT.failed]: "FAILED",
  [EXIT.usage]: "USAGE_ERROR",
  [EXIT.dataError]: "DATA_ERROR",
  [EXIT.unavailable]: "UNAVAILABLE",
  [EXIT.config]: "CONFIGURATION_ERROR",
  [EXIT.interrupted]: "INTERRUPTED",
};

export class CliError extends Error {
  override readonly name = "CliError";

  /**
   * @param message one or more sentences; empty: nothing is printed as text
   * @param code identifies the error for programs. @default a code for the exit code
   */
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    readonly code: string = CODES[exitCode],
  ) {
    super(message);
  }
}

/** A command line or an input that is not valid. */
export const usageError = (message: string): CliError => new CliError(message, EXIT.usage);

/** A resource that the command needs cannot be used. */
export const unavailable = (message: string): CliError => new CliError(message, EXIT.unavailable);

export const describeError = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
