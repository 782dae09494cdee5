/** Validates the options of the command line before anything is sent. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseNumber, parseWholeNumber, type Range, usageError } from "@latchkey/cli";
import { type RunOptions, SCENARIOS } from "../load/run-options.ts";
import { parseAssertions } from "../measure/assertions.ts";
import type { CommandOptions } from "../report/shell-command.ts";
import { parseHttpUrl, parseMilliseconds, parseName, parseOrigin, parseSeconds } from "./arguments.ts";

/** As commander returns them. */
export interface Flags {
  readonly url?: string;
  readonly scenario: string;
  readonly rate?: string;
  readonly concurrency: string;
  readonly arrivals: string;
  readonly duration: string;
  readonly users: string;
  readonly unknown: string;
  readonly wrong: string;
  readonly seed: string;
  readonly timeout: string;
  readonly seedDatabase?: string;
  readonly metrics?: string;
  readonly report?: string;
  readonly junit?: string;
  readonly assert?: string;
  readonly json?: boolean;
  readonly findCapacity?: boolean;
  readonly p99: string;
}

export interface Options extends CommandOptions {
  /** Without an extension; its folder exists. */
  readonly reportPath: string | null;
  /** Its folder exists. */
  readonly junitPath: string | null;
  readonly isJson: boolean;
}

/** More than one load generator can send; also bounds the memory of the arrivals. */
const MAX_RATE = 20_000;
const SECONDS: Range = { min: 1, max: 600 };
const PERCENT: Range = { min: 0, max: 100 };

/** @throws {CliError} with exit code 64 */
export function parseOptions(flags: Flags): Options {
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
        : {
            kind: "open",
            ratePerSecond: number("rate", { min: 0.1, max: MAX_RATE }),
            arrivals,
          },
    durationSeconds: parseSeconds({ name: "--duration", text: flags.duration }, SECONDS),
    users: whole("users", 1, 100_000),
    unknownPercent: number("unknown", PERCENT),
    wrongPercent: number("wrong", PERCENT),
    seed: whole("seed", 0, 1_000_000_000),
  };
  rejectConflicts(flags, asked);
  return {
    asked,
    arrivals,
    timeoutSeconds: parseSeconds({ name: "--timeout", text: flags.timeout }, SECONDS),
    seedDatabaseUrl: flags.seedDatabase,
    metricsUrl: flags.metrics === undefined ? undefined : parseMetricsUrl(flags.metrics),
    reportPath: flags.report === undefined ? null : parseReportPath(flags.report),
    junitPath: flags.junit === undefined ? null : parseOutputPath({ name: "--junit", text: flags.junit }),
    assertions: flags.assert === undefined ? [] : parseAssertions(flags.assert),
    isJson: flags.json ?? false,
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
function parseOutputPath({ name, text }: { readonly name: string; readonly text: string }): string {
  const path = resolve(text);
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usageError(`${name} ${text} must be in an existing folder; see --help.`);
}
