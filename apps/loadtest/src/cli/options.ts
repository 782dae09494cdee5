/** Validates the options of the command line before anything is sent, and prints them again. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseNumber, parseWholeNumber, type Range, usageError } from "@latchkey/cli";
import { OPERATIONS, type RunOptions, SCENARIOS } from "../load/run-options.ts";
import { parseAssertions } from "../measure/assertions.ts";
import { parseHttpUrl, parseMilliseconds, parseName, parseOrigin, parseSeconds } from "./arguments.ts";

/** Members whose values are not parsed yet. */
export type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** As commander returns them. */
export interface Flags
  extends Texts<"scenario" | "concurrency" | "arrivals" | "duration" | "users" | "unknown" | "wrong">,
    Texts<"seed" | "timeout" | "p99">,
    Partial<Texts<"url" | "rate" | "seedDatabase" | "metrics" | "report" | "junit" | "assert">> {
  readonly json?: boolean;
  readonly findCapacity?: boolean;
}

export type Options = ReturnType<typeof parseOptions>;

/** More than one load generator can send; also bounds the memory of the arrivals. */
const MAX_RATE = 20_000;
const SECONDS: Range = { min: 1, max: 600 };
const PERCENT: Range = { min: 0, max: 100 };

/** @throws {CliError} with exit code 64 */
export function parseOptions(flags: Flags) {
  const number = (name: keyof Flags, range: Range) =>
    parseNumber({ name: `--${name}`, text: String(flags[name]) }, range);
  const whole = (name: keyof Flags, min: number, max: number) =>
    parseWholeNumber({ name: `--${name}`, text: String(flags[name]) }, { min, max });
  const arrivals = parseName({ name: "--arrivals", text: flags.arrivals }, ["poisson", "constant"]);
  const asked: RunOptions = {
    url: parseOrigin({ name: "--url", text: flags.url }),
    scenario: parseName({ name: "--scenario", text: flags.scenario }, SCENARIOS),
    load:
      flags.rate === undefined
        ? { kind: "closed", concurrency: whole("concurrency", 1, 1000) }
        : { kind: "open", ratePerSecond: number("rate", { min: 0.1, max: MAX_RATE }), arrivals },
    durationSeconds: parseSeconds({ name: "--duration", text: flags.duration }, SECONDS),
    users: whole("users", 1, 100_000),
    unknownPercent: number("unknown", PERCENT),
    wrongPercent: number("wrong", PERCENT),
    seed: whole("seed", 0, 1_000_000_000),
  };
  rejectConflicts(flags, asked);
  return {
    asked,
    /** Also of a capacity search. */
    arrivals,
    timeoutSeconds: parseSeconds({ name: "--timeout", text: flags.timeout }, SECONDS),
    seedDatabaseUrl: flags.seedDatabase,
    metricsUrl: flags.metrics === undefined ? undefined : parseMetricsUrl(flags.metrics),
    /** Without an extension; its folder exists, as that of `junitPath`. */
    reportPath: flags.report === undefined ? null : parseReportPath(flags.report),
    junitPath: flags.junit === undefined ? null : parseOutputPath({ name: "--junit", text: flags.junit }),
    assertions: flags.assert === undefined ? [] : parseAssertions(flags.assert, OPERATIONS[asked.scenario]),
    isJson: flags.json ?? false,
    /** The bound of a capacity search; null for a single run. */
    p99BoundMs: flags.findCapacity ? parseMilliseconds({ name: "--p99", text: flags.p99 }) : null,
  };
}

/** Besides those that commander rejects. */
function rejectConflicts({ findCapacity, junit, assert }: Flags, asked: RunOptions): void {
  const reject = (problem: string) => {
    throw usageError(`${problem}; see --help.`);
  };
  if (asked.unknownPercent + asked.wrongPercent > 100)
    reject("--unknown and --wrong must not exceed 100 % together");
  if (findCapacity && asked.scenario !== "login") reject("--find-capacity requires --scenario login");
  if (junit !== undefined && assert === undefined) reject("--junit requires --assert");
}

/** The default path is /metrics. */
function parseMetricsUrl(text: string): string {
  const url = parseHttpUrl({ name: "--metrics", text });
  if (url.pathname === "/") url.pathname = "/metrics";
  return url.href;
}

/** Both extensions are added when the files are written. */
const parseReportPath = (text: string): string =>
  parseOutputPath({ name: "--report", text }).replace(/\.(html|json)$/, "");

/** Checked before the run: a missing folder must not lose the results of ten minutes. */
function parseOutputPath({ name, text }: Texts<"name" | "text">): string {
  const path = resolve(text);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usageError(`${name} ${text} must be in an existing folder; see --help.`);
}

/** The options that determine the result. */
export type CommandOptions = Omit<Options, "reportPath" | "junitPath" | "isJson">;

/** Words without special characters are not quoted. */
const quote = (word: string | number): string =>
  /^[\w@%+=:,./-]+$/.test(`${word}`) ? `${word}` : `'${`${word}`.replaceAll("'", "'\\''")}'`;

/** The command that repeats a run or a capacity search, quoted for a POSIX shell. */
export function commandOf(options: CommandOptions): string {
  const { asked, timeoutSeconds, seedDatabaseUrl: database, metricsUrl, assertions } = options;
  const clauses = assertions.map(
    ({ metric, operator, limit, unit }) => `${metric}${operator}${limit}${unit}`,
  );
  const words = [
    ...["bun", "run", "loadtest", "--url", asked.url, "--scenario", asked.scenario, ...loadOf(options)],
    ...["--duration", `${asked.durationSeconds}s`, "--timeout", `${timeoutSeconds}s`, "--users", asked.users],
    ...["--unknown", asked.unknownPercent, "--wrong", asked.wrongPercent, "--seed", asked.seed],
    ...(metricsUrl === undefined ? [] : ["--metrics", metricsUrl]),
    ...(clauses.length === 0 ? [] : ["--assert", clauses.join(",")]),
  ].map(quote);
  // Other URLs than those of files contain passwords.
  const value = database?.startsWith("file:") ? quote(database) : '"$DATABASE_URL"';
  return [...words, ...(database === undefined ? [] : ["--seed-database", value])].join(" ");
}

function loadOf({ asked: { load }, arrivals, p99BoundMs }: CommandOptions): readonly (string | number)[] {
  if (p99BoundMs !== null) return ["--find-capacity", "--p99", `${p99BoundMs}ms`, "--arrivals", arrivals];
  if (load.kind === "closed") return ["--concurrency", load.concurrency];
  return ["--rate", load.ratePerSecond, "--arrivals", arrivals];
}
