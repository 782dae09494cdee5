/** The command line: what to drive, how hard and for how long. Every wrong argument is one sentence. */
import { parseArgs } from "node:util";
import { LoadtestError } from "./errors.ts";

export const HELP = `Drives a running Latchkey service and says what it saw.

Usage: bun run loadtest --url URL [options]

  --url URL            where the service listens, such as http://127.0.0.1:3000
  --scenario NAME      login: every client logs in again as soon as it is answered  (login)
  --concurrency N      clients at once, 1 to 1000  (48)
  --duration SECONDS   how long after a second of warm-up, 1 to 600  (10)
  --users N            accounts that the clients log in with, made where missing, 1 to 1000  (48)
  --json               the report as one JSON object
  --help               this text

The service must run without its limits: RATE_LIMIT_ENABLED=false. Beside the clients one more connection asks
/healthz every 5 ms, which shows whether the service stays responsive meanwhile.

Exit codes: 0 measured, 64 a wrong argument, 69 the service cannot be reached or refuses to be measured.
`;

const SCENARIOS = ["login"] as const;

export interface Arguments {
  /** Without a trailing slash. */
  readonly url: string;
  readonly scenario: (typeof SCENARIOS)[number];
  readonly concurrency: number;
  readonly durationSeconds: number;
  readonly users: number;
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws {LoadtestError} with exit code 64 */
export function parseArguments(args: readonly string[]): Arguments {
  const values = parseOptions(args);
  const help = values.help ?? false;
  return {
    url: help ? "" : parseUrl(values.url),
    scenario: parseScenario(values.scenario ?? "login"),
    concurrency: parseCount("--concurrency", values.concurrency ?? "48", 1000),
    durationSeconds: parseCount("--duration", values.duration ?? "10", 600),
    users: parseCount("--users", values.users ?? "48", 1000),
    json: values.json ?? false,
    help,
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: "string" },
        scenario: { type: "string" },
        concurrency: { type: "string" },
        duration: { type: "string" },
        users: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error));
  }
}

function parseUrl(text: string | undefined): string {
  if (text === undefined) throw wrong("--url is missing");
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw wrong(`--url must be an http or https URL, not ${JSON.stringify(text)}`);
  }
  return url.origin;
}

function parseScenario(text: string): Arguments["scenario"] {
  const scenario = SCENARIOS.find((known) => known === text);
  if (scenario === undefined) throw wrong(`--scenario must be ${SCENARIOS.join(" or ")}, not ${text}`);
  return scenario;
}

function parseCount(name: string, text: string, max: number): number {
  const count = Number(text);
  if (/^[1-9][0-9]*$/.test(text) && count <= max) return count;
  throw wrong(`${name} must be a whole number from 1 to ${max}, not ${JSON.stringify(text)}`);
}

const wrong = (problem: string) => new LoadtestError(`${problem}; --help shows what there is.`, 64);
