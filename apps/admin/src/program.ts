/** The whole tool on one screen: its commands, its help, and how a failure becomes a sentence and an exit code. */
import { Command, CommanderError } from "commander";
import { hashCommand } from "./commands/hash.ts";
import { teach } from "./commands/help.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { secretCommand } from "./commands/secret.ts";
import { usersCommand } from "./commands/users.ts";
import type { Variables } from "./environment.ts";
import { describeFailure, EXIT, UsageError } from "./failures.ts";

const ENVIRONMENT = `Environment (as for the service):
  DATABASE_URL       file:PATH, postgres://… or postgresql://…
                     a relative PATH starts at the repository's root
                     default: file:./data/latchkey.db, but none where
                     NODE_ENV is production
  DATABASE_URL_FILE  the path of a file that holds it
  HASH_KERNEL        auto, or the name of one kernel
                     default: auto
  HASH_WORKERS       threads that hash bench measures
                     default: the cores that this process may use`;

const EXIT_CODES = `Exit codes:
  0    done
  1    refused: no such account, a name that is taken, a question denied
  64   usage: a command, option, argument or password that is not accepted
  65   migration: the database cannot be brought to this release's schema
  69   database: it does not answer, or has not this release's schema
  78   configuration: an environment variable is not what it may be
  130  interrupted`;

/** @param variables the environment; only the commands that need a variable judge it */
function createProgram(variables: Variables): Command {
  const program = new Command("bun run admin")
    .description("Runs a Latchkey service: its accounts, its schema, its keys, its capacity.")
    .usage("<command> [arguments] [options]")
    .addCommand(usersCommand(variables))
    .addCommand(migrateCommand(variables))
    .addCommand(secretCommand())
    .addCommand(hashCommand(variables));
  return teach(
    program,
    [
      "bun run migrate",
      "bun run admin users create ada@example.com --username ada",
      "bun run admin users list --json",
      "bun run admin help users create",
    ],
    ENVIRONMENT,
    EXIT_CODES,
  );
}

/** Errors are thrown up to `run`, which says them once. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) throwErrors(child);
}

/** Runs one command line and gives its exit code; everything there is to say has been written. */
export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const program = createProgram(variables);
  throwErrors(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    // Help in place of a missing command has been printed.
    if (error instanceof CommanderError && error.code === "commander.help") return EXIT.usage;
    const { exitCode, text } = describeFailure(error instanceof CommanderError ? usageError(error) : error);
    if (text !== "") process.stderr.write(`${text}\n`);
    return exitCode;
  }
}

/** The parser's own sentence; the value of `--password=…` and the like is cut off, as it may be a secret. */
function usageError({ code, message }: CommanderError): UsageError {
  const problem = message
    .replace(/^error: /, "")
    .replace(/=.*'/s, "'")
    .replaceAll("\n", " ");
  if (code === "commander.unknownOption" && problem.includes("'--password")) {
    return new UsageError("A password is never an argument: it is asked for, or read from standard input.");
  }
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`.replace(/\.$/, "");
  return new UsageError(`${sentence}; --help shows what is accepted.`);
}
