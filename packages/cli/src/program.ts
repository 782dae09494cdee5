/** Runs a commander program. Reports every error as one message on standard error and an exit code. */
import type { Command, CommanderError as UsageError } from "commander";
import { CliError, EXIT, usageError } from "./errors.ts";
import { printable, toJson, writeError } from "./output.ts";

interface ProgramOptions {
  readonly program: Command;
  /** The command-line arguments without the runtime and the script. */
  readonly args: readonly string[];
  /** Converts errors of other libraries. Any result but a `CliError` or `CommanderError` is rethrown. @default none */
  readonly convertError?: (error: unknown) => unknown;
  /** Whether errors are printed as `{"code": …, "message": …}`. @default false */
  readonly jsonErrors?: boolean;
}

/** Returns the exit code when all output has been written. */
export async function runProgram(options: ProgramOptions): Promise<number> {
  const { program, args, convertError, jsonErrors = false } = options;
  // Imported only when a program runs, because the service imports this package but does not need commander.
  const { CommanderError } = await import("commander");
  throwErrors(program);
  try {
    await program.parseAsync(normalizeHelp(program, args), { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    // Commander has printed the help because the command is missing.
    if (error instanceof CommanderError && error.code === "commander.help") return EXIT.usage;
    const converted = convertError?.(error) ?? error;
    const reported = converted instanceof CommanderError ? describeUsage(converted) : converted;
    if (!(reported instanceof CliError)) throw reported;
    const { code, message } = reported;
    if (jsonErrors) writeError(`${toJson({ code, message })}\n`);
    else if (message !== "") writeError(`${message.split("\n").map(printable).join("\n")}\n`);
    return reported.exitCode;
  }
}

/**
 * Removes the help flag after an unknown command, because commander would print the parent's help and report success. Converts
 * `help a b` to `a b --help`, because commander reads only one name after `help`.
 */
function normalizeHelp(program: Command, args: readonly string[]): readonly string[] {
  const request = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  return namesUnknownCommand(program, request)
    ? request.filter((arg) => arg !== "--help" && arg !== "-h")
    : request;
}

function namesUnknownCommand(program: Command, args: readonly string[]): boolean {
  const remaining = [...args];
  let command = program;
  while (command.commands.length > 0) {
    const arg = remaining.shift();
    if (arg === undefined) return false;
    const option = command.options.find(({ short, long }) => arg === short || arg === long);
    if (option?.required) remaining.shift();
    if (option || arg.startsWith("-")) continue;
    const next = command.commands.find((child) => child.name() === arg);
    if (!next) return true;
    command = next;
  }
  return false;
}

/** Makes commander throw its errors instead of printing them. `runProgram` prints each error once. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) throwErrors(child);
}

/** Returns commander's message as one sentence. Removes the value in `--name=value`, because the value can be a secret. */
function describeUsage({ message }: UsageError): CliError {
  const text = message
    .replace(/^error: /, "")
    .replace(/=.*'/s, "'")
    .replaceAll("\n", " ")
    .replace(/\.$/, "");
  return usageError(`${text.charAt(0).toUpperCase()}${text.slice(1)}; see --help.`);
}
