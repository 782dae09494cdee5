/** The command line on one screen: its options, its help, and how a failure becomes a sentence and an exit code. */
import { Command, CommanderError, Option } from "commander";
import { EXIT, LoadtestError } from "../errors.ts";
import { driveCommand } from "./load-command.ts";
import type { Flags } from "./options.ts";
import { addPlanCommands } from "./plan-commands.ts";

const NOTES = `
A rate is an open loop: requests are sent when they are due, whatever became of those before, and latency counts from
then. Without one, --concurrency clients each wait for their answer. Nothing counts in the first second. Beside the load
one more connection asks /healthz every 5 ms, which shows whether the service stays responsive meanwhile.

Scenarios:
  login      POST /auth/login with many accounts
  read       half GET /auth/me with their tokens, half GET /todos?limit=20
  mixed      10 % login, 40 % me, 40 % todos, 10 % new todos
  register   new accounts only; they stay

The service must run without its limits: RATE_LIMIT_ENABLED=false.

Exit codes:
  0    measured
  1    measured, and an assertion failed
  64   a wrong argument
  69   the service cannot be reached or refuses to be measured
  130  interrupted; what came until then is reported

Examples:
  bun run loadtest --url http://127.0.0.1:3000 --rate 40 --duration 30 --report ./login
  bun run loadtest --url http://127.0.0.1:3000 --rate 40 --assert 'login.p99<800ms,errors<0.1%,probe.p99<5ms'
  bun run loadtest --url http://127.0.0.1:3000 --metrics http://127.0.0.1:9090 --find-capacity --p99 800ms`;

const note = (text: string): void => void process.stderr.write(text);

interface Ends {
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
  readonly end: (exitCode: number) => void;
}

function createProgram({ signal, write, end }: Ends): Command {
  const program = new Command("bun run loadtest")
    .description("Drives a running Latchkey service and says what it saw.")
    .usage("--url URL [options]")
    .option("--url <url>", "where the service listens, such as http://127.0.0.1:3000")
    .option("--scenario <name>", "login, read, mixed or register", "login")
    .addOption(new Option("--rate <number>", "requests a second, 0.1 to 20000").conflicts("concurrency"))
    .option("--concurrency <count>", "clients at once, 1 to 1000", "48")
    .option("--arrivals <kind>", "of a rate: poisson or constant", "poisson")
    .option("--duration <seconds>", "how long after the warm-up, 1 to 600", "10")
    .option("--users <count>", "accounts, made where missing, 1 to 100000", "48")
    .option("--unknown <percent>", "logins with an address that no account has", "0")
    .option("--wrong <percent>", "logins with a wrong password", "0")
    .option("--seed <number>", "the same seed asks the same at the same times", "1")
    .option("--timeout <seconds>", "how long an answer may take, 1 to 600", "10")
    .option("--seed-database <url>", "make the accounts in the service's database, not through its API")
    .option("--metrics <url>", "the service's metrics port: adds its kernel, lanes and queue")
    .option("--report <path>", "write PATH.html and PATH.json")
    .option("--assert <clauses>", "what the run must hold, such as login.p99<800ms,errors<0.1%")
    .option("--json", "print the report as one JSON object, and no progress")
    .option("--find-capacity", "raise the rate of logins until the service sheds or p99 passes a bound")
    .option("--p99 <time>", "that bound, such as 800ms or 1s", "800ms")
    .addHelpText("after", NOTES)
    .action(async (flags: Flags) => end(await driveCommand({ flags, signal, write, note })));
  addPlanCommands(program, { write, note, signal });
  return program;
}

/** Errors are thrown up to `run`, which says them once. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) throwErrors(child);
}

/** Runs one command line and gives its exit code; everything there is to say has been written. */
export async function run(args: readonly string[], signal: AbortSignal): Promise<number> {
  let exitCode: number = EXIT.done;
  // A slow reader gets everything before the process may exit.
  let written = Promise.resolve();
  const program = createProgram({
    signal,
    write(text) {
      written = new Promise((resolve) => process.stdout.write(text, () => resolve()));
    },
    end(code) {
      exitCode = code;
    },
  });
  throwErrors(program);
  try {
    await program.parseAsync(args, { from: "user" });
    await written;
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    const failure = error instanceof CommanderError ? usageError(error) : error;
    if (!(failure instanceof LoadtestError)) throw failure;
    note(`${failure.message}\n`);
    return failure.exitCode;
  }
}

function usageError({ message }: CommanderError): LoadtestError {
  const problem = message
    .replace(/^error: /, "")
    .replaceAll("\n", " ")
    .replace(/\.$/, "");
  const sentence = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}`;
  return new LoadtestError(`${sentence}; --help shows what there is.`, EXIT.usage);
}
