/** The options, the help and the subcommands of the program. */
import { runProgram } from "@latchkey/cli";
import { Command, Option } from "commander";
import { OPERATIONS, SCENARIOS, scenarioNames } from "../load/scenarios.ts";
import { runLoadCommand } from "./load-command.ts";
import { commandOf, type Flags } from "./options.ts";
import { addPlanCommand } from "./plan-command.ts";

const line = ([name, text]: readonly [string, string]): string => `  ${name.padEnd(13)}${text}\n`;
const SCENARIO_LINES = Object.entries(SCENARIOS).map(([name, percentages]) => {
  const shares = Object.entries(percentages).map(([operation, percent]) => `${percent} % ${operation}`);
  return line([name, shares.join(", ")]);
});

const NOTES = `
With --rate the load is an open loop: requests are sent on schedule, regardless of earlier responses, and latency counts from
the intended start. Otherwise --concurrency clients each wait for their response. The first second is a warm-up and is not
measured. An additional connection requests /healthz every 5 ms to measure the responsiveness of the service.

--duration and --timeout accept plain seconds, too. With --find-capacity, --duration is the duration of each rate; a rate that
fails is repeated once.

Assertions compare p50, p90, p95, p99, p99.9, max or mean of an operation or of the probe (in ms, s or us), and rate (per
second) or errors (a count or %) of an operation or of all operations.

Connection errors are counted by name: refused, reset, closed (before the response was complete) and timed out.

Ctrl-C ends a run, reports the results until then and deletes the users; a second Ctrl-C at least half a second later exits
immediately, and the users remain.

Users have a password of their run and e-mails such as user-1@RUN.loadtest.invalid. They are deleted within ten seconds after the
run. If some remain, the command that deletes them is printed. The todos of a run remain.

Scenarios, with the percentages of their operations:
${SCENARIO_LINES.join("")}
Operations:
${Object.entries(OPERATIONS).map(line).join("")}
The service must run without rate limits: RATE_LIMIT_ENABLED=false.

Exit codes:
  0    success
  1    an assertion failed, or the confirmation was declined
  64   invalid argument
  69   the service is unreachable, cannot be measured or answered no request
  130  interrupted; the results until then are reported

Examples:
  bun run loadtest --url http://127.0.0.1:3000 --rate 40 --duration 30s --report ./login
  bun run loadtest --url http://127.0.0.1:3000 --rate 40 --assert 'login.p99<800ms,errors<0.1%'
  bun run loadtest --url http://127.0.0.1:3000 --metrics http://127.0.0.1:9464 --find-capacity --report capacity
  bun run loadtest plan --capacity capacity.json --logins-per-second 16667`;

/** Runs one command line and returns the exit code. An abort of `signal` ends a run early. */
export function run(args: readonly string[], signal: AbortSignal): Promise<number> {
  const program = new Command("bun run loadtest")
    .description("Load tests a running Latchkey service, finds its capacity and plans replicas.")
    .usage("--url URL [options]")
    .option("--url <url>", "URL of the service without a path, such as http://127.0.0.1:3000")
    .option("--scenario <name>", scenarioNames().join(", "), "login")
    .addOption(new Option("--rate <number>", "requests per second, 0.1 to 20000").conflicts("concurrency"))
    .option("--concurrency <count>", "concurrent clients, 1 to 1000", "48")
    .option("--arrivals <kind>", "with --rate or --find-capacity: poisson or constant", "poisson")
    .option("--duration <time>", "duration after the warm-up, such as 30s or 2m; at most 10m", "10s")
    .option("--users <count>", "users, created before the run and deleted after it, 1 to 100000", "48")
    .option("--unknown <percent>", "logins with an unknown e-mail address", "0")
    .option("--wrong <percent>", "logins with a wrong password", "0")
    .option("--seed <number>", "equal seeds choose equal requests at equal times", "1")
    .option("--timeout <time>", "maximum duration of a request, such as 5s; at most 10m", "10s")
    .option("--metrics <url>", "metrics port of the service: adds its kernel, lanes and queue to the report")
    .option("--report <path>", "write PATH.html and PATH.json")
    .option("--assert <clauses>", "conditions for the run, such as login.p99<800ms,errors<0.1%")
    .option("--json", "print the report as one JSON object, without progress")
    .option("-y, --yes", "do not ask before load is sent to another machine; required without a terminal")
    .addOption(
      new Option(
        "--find-capacity",
        "increase the rate of logins until the service cannot answer them with p99 within a bound",
      ).conflicts(["rate", "concurrency", "assert"]),
    )
    .option("--p99 <time>", "the bound, such as 800ms or 1s", "800ms")
    .addHelpText("after", NOTES)
    .action((flags: Flags) => runLoadCommand(flags, { command: commandOf(args), signal }));
  addPlanCommand(program);
  return runProgram({ program, args });
}
