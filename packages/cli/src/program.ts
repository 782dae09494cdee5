/** Runs a commander program. Every error becomes one message on standard error and an exit code. */
import { type Command, CommanderError } from "commander";
import { CliError, EXIT, usageError } from "./errors.ts";
import { printable, writeError } from "./output.ts";

export interface ProgramOptions {
  readonly program: Command;
  /** Without the runtime and the script. */
  readonly args: readonly string[];
  /** Converts errors of other libraries to `CliError`. Errors of another class are rethrown. @default none */
  readonly convertError?: (error: unknown) => unknown;
}

/** @returns the exit code; all output has been written */
export async function runProgram({ program, args, convertError }: ProgramOptions): Promise<number> {
  throwErrors(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    // Commander has printed the help because the command is missing.
    if (error instanceof CommanderError && error.code === "commander.help") return EXIT.usage;
    const converted = convertError?.(error) ?? error;
    const failure = converted instanceof CommanderError ? describeUsage(converted) : converted;
    if (!(failure instanceof CliError)) throw failure;
    if (failure.message !== "") writeError(`${failure.message.split("\n").map(printable).join("\n")}\n`);
    return failure.exitCode;
  }
}

/** Errors reach `runProgram`, which prints each one once. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) throwErrors(child);
}

/** Commander's message as one sentence. The value in `--name=value` is removed: it may be a secret. */
function describeUsage({ message }: CommanderError): CliError {
  const text = message
    .replace(/^error: /, "")
    .replace(/=.*'/s, "'")
    .replaceAll("\n", " ")
    .replace(/\.$/, "");
  return usageError(`${text.charAt(0).toUpperCase()}${text.slice(1)}; see --help.`);
}
