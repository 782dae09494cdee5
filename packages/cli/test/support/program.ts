/** A program with one command for each behaviour under test. */
import { CliError, type ExitCode, exitOnOutputError, runProgram, write } from "@latchkey/cli";
import { Command } from "commander";

exitOnOutputError();

const program = new Command("fixture");
program
  .command("lines")
  .argument("<count>")
  .action(async (count: string) => {
    for (let line = 1; line <= Number(count); line++) await write(`line ${line}\n`);
  });
program
  .command("fail")
  .argument("<code>")
  .argument("<message>")
  .action((code: string, message: string) => {
    throw new CliError(message, Number(code) as ExitCode);
  });
program
  .command("throw")
  .argument("<message>")
  .action((message: string) => {
    throw new TypeError(message);
  });

process.exit(await runProgram({ program, args: process.argv.slice(2) }));
