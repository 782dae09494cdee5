/** All commands of the program, the help and the exit codes. */
import { AdministrationError } from "@latchkey/administration";
import { CliError, databaseError, EXIT, printable, runProgram, unavailable, usageError } from "@latchkey/cli";
import { MailNotSent } from "@latchkey/mail";
import { Command, CommanderError } from "commander";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { copyCommand } from "./commands/copy.ts";
import { eventsCommand } from "./commands/events.ts";
import { factorsCommand } from "./commands/factors.ts";
import { hashCommand } from "./commands/hash.ts";
import { withExamples } from "./commands/help.ts";
import { mailCommand } from "./commands/mail.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { raiseIdsCommand } from "./commands/raise-ids.ts";
import { secretCommand } from "./commands/secret.ts";
import { usersCommand } from "./commands/users.ts";
import type { Variables } from "./environment.ts";

const ENVIRONMENT = `Environment (as for the service):
  DATABASE_URL       file:PATH, postgres://… or postgresql://…
                     a relative PATH is resolved against the repository root
                     default: file:./data/latchkey.db; required if NODE_ENV is
                     production
  DATABASE_URL_FILE  path of a file that contains the URL
  MAIL_*, PRODUCT_*, PUBLIC_URL
                     mail server, sender, texts and links
  AUTH_FACTOR_KEY, AUTH_FACTOR_KEY_PREVIOUS
                     keys of second factors, for factors rekey
  HASH_KERNEL        auto or the name of a kernel
                     default: auto
  PASSWORD_MIN_LENGTH, PASSWORD_BLOCKLIST
                     rules for new passwords
  HASH_WORKERS       number of threads for hash bench
                     default: the cores available to this process`;

const EXIT_CODES = `Exit codes:
  0    success
  1    rejected: user not found, duplicate name, or confirmation declined
  64   usage: invalid command, option, argument or password
  65   migration: the schema cannot be migrated to this release;
       users import: lines were rejected; users set-claims: the file has no
       valid claims; users set-roles: the e-mail is not verified;
       restore: the file is not a backup;
       copy: the target has rows or rejects one, or a schema is not that of this
       release; raise-ids, restore: no further ids
  69   database: unreachable, in use, or its schema is older than this release;
       backup, secret generate: a file cannot be created;
       mail test: the mail server did not accept the mail
  78   configuration: invalid environment variable
  130  interrupted`;

/** Runs one command line and returns the exit code. @param variables each command validates only those that it uses */
export function run(args: readonly string[], variables: Variables): Promise<number> {
  const program = new Command("bun run admin")
    .description("Administers a Latchkey service: users, schema, backups, mail, signing keys, capacity.")
    .usage("<command> [arguments] [options]")
    .addCommand(usersCommand(variables))
    .addCommand(migrateCommand(variables))
    .addCommand(backupCommand(variables))
    .addCommand(restoreCommand(variables))
    .addCommand(raiseIdsCommand(variables))
    .addCommand(copyCommand(variables))
    .addCommand(factorsCommand(variables))
    .addCommand(eventsCommand(variables))
    .addCommand(mailCommand(variables))
    .addCommand(secretCommand())
    .addCommand(hashCommand(variables));
  const examples = [
    "bun run migrate",
    "bun run admin users create ada@example.com --username ada",
    "bun run admin users list --json",
    "bun run admin help users create",
  ];
  withExamples(program, examples, ENVIRONMENT, EXIT_CODES);
  return runProgram({ program, args, convertError, jsonErrors: args.includes("--json") });
}

function convertError(error: unknown): CliError | CommanderError {
  if (error instanceof CommanderError) {
    if (error.code !== "commander.unknownOption" || !error.message.includes("'--password")) return error;
    return usageError(
      "A password cannot be passed as an argument; type it at the prompt or pipe it into standard input.",
    );
  }
  if (error instanceof CliError) return error;
  if (error instanceof AdministrationError && error.code === "EMAIL_NOT_VERIFIED")
    return new CliError(
      printable(`${error.message} Pass --unverified to set roles anyway.`),
      EXIT.dataError,
      error.code,
    );
  if (error instanceof MailNotSent) return unavailable(`${error.message}.`);
  return databaseError(error, EXIT.failed);
}
