/** Runs a commander program. Every error becomes one message on standard error and an exit code. */
import type { Command, CommanderError as UsageError } from "commander";
import { CliError, EXIT, usageError } from "./errors.ts";
import { printable, toJson, writeError } from "./output.ts";

interface ProgramOptions {
  readonly program: Command;
  /** Without the runtime and the script. */
  readonly args: readonly string[];
  /** Converts errors of other libraries to `CliError`. Errors of another class are rethrown. @default none */
  readonly convertError?: (error: unknown) => unknown;
  /** Whether errors are printed as `{"code": …, "message": …}`. @default false */
  readonly jsonErrors?: boolean;
}

/** @returns the exit code; all output has been written */
export async function runProgram(options: ProgramOptions): Promise<number> {
  const { program, args, convertError, jsonErrors = false } = options;
  // Only now, because the service imports this package and parses no commands.
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
 * Commander prints the parent's help and reports success if help is requested for an unknown command: without the flag it
 * reports the unknown command. `help a b` becomes `a b --help`, because Commander reads one name after `help`.
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

/** Errors reach `runProgram`, which prints each one once. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) throwErrors(child);
}

/** Commander's message as one sentence. The value in `--name=value` is removed because it can be a secret. */
function describeUsage({ message }: UsageError): CliError {
  const text = message
    .replace(/^error: /, "")
    .replace(/=.*'/s, "'")
    .replaceAll("\n", " ")
    .replace(/\.$/, "");
  return usageError(`${text.charAt(0).toUpperCase()}${text.slice(1)}; see --help.`);
}
