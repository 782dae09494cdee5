/** Exit codes of the database's errors, the same as those of the service, and of unexpected errors. No stack is printed. */
import { CliError, describeError, EXIT, type ExitCode, usageError } from "@latchkey/cli";
import { CommanderError } from "commander";

const EXIT_BY_CODE: Readonly<Record<string, ExitCode>> = {
  UNSUPPORTED_DATABASE_URL: EXIT.config,
  DATABASE_UNAVAILABLE: EXIT.unavailable,
  UNSUPPORTED_DATABASE_SERVER: EXIT.dataError,
  SCHEMA_TOO_NEW: EXIT.dataError,
};

export function convertError(error: unknown): CliError | CommanderError {
  if (error instanceof CommanderError) {
    if (error.code !== "commander.unknownOption" || !error.message.includes("'--password")) return error;
    return usageError(
      "A password cannot be passed as an argument; type it at the prompt or pipe it into standard input.",
    );
  }
  if (error instanceof CliError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new CliError(describeError(error), EXIT_BY_CODE[code] ?? EXIT.failed);
}
