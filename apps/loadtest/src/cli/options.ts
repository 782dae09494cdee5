/** Validates the options of the command line before any request is sent. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseNumber, parseWholeNumber, type Range, usageError } from "@latchkey/cli";
import { operationsOf, type RunOptions, scenarioNames } from "../load/scenarios.ts";
import { parseAssertions } from "../measure/assertions.ts";
import { parseHttpUrl, parseMilliseconds, parseName, parseOrigin, parseSeconds } from "./arguments.ts";

/** An object whose values are texts that are not parsed yet. */
export type Texts<Name extends string> = Readonly<Record<Name, string>>;

type TextFlags = Texts<"scenario" | "concurrency" | "arrivals" | "duration" | "users" | "unknown"> &
  Texts<"wrong" | "seed" | "timeout" | "p99"> &
  Partial<Texts<"url" | "rate" | "metrics" | "report" | "assert">>;

/** The options as commander returns them. */
export type Flags = TextFlags & Partial<Readonly<Record<"json" | "findCapacity" | "yes", boolean>>>;

export type Options = ReturnType<typeof parseOptions>;

/** Higher than the rate that one load generator can send. Limits the memory for the start times of the requests. */
const MAX_RATE = 20_000;
const SECONDS: Range = { min: 1, max: 600 };
const PERCENT: Range = { min: 0, max: 100 };

/** @throws {CliError} with exit code 64 */
export function parseOptions(flags: Flags) {
  const argument = (name: keyof TextFlags) => ({ name: `--${name}`, text: flags[name] });
  const arrivals = parseName(argument("arrivals"), ["poisson", "constant"]);
  const asked: RunOptions = {
    url: parseOrigin(argument("url")),
    scenario: parseName(argument("scenario"), scenarioNames()),
    load:
      flags.rate === undefined
        ? { kind: "closed", concurrency: parseWholeNumber(argument("concurrency"), { min: 1, max: 1000 }) }
        : {
            kind: "open",
            ratePerSecond: parseNumber(argument("rate"), { min: 0.1, max: MAX_RATE }),
            arrivals,
          },
    durationSeconds: parseSeconds(argument("duration"), SECONDS),
    users: parseWholeNumber(argument("users"), { min: 1, max: 100_000 }),
    unknownPercent: parseNumber(argument("unknown"), PERCENT),
    wrongPercent: parseNumber(argument("wrong"), PERCENT),
    seed: parseWholeNumber(argument("seed"), { min: 0, max: 1_000_000_000 }),
  };
  // Commander rejects all other conflicts between options.
  if (asked.unknownPercent + asked.wrongPercent > 100)
    throw usageError("--unknown and --wrong must not exceed 100 % together; see --help.");
  if (flags.findCapacity && asked.scenario !== "login")
    throw usageError("--find-capacity requires --scenario login; see --help.");
  return {
    asked,
    /** The arrivals of an open loop or a capacity search. */
    arrivals,
    timeoutSeconds: parseSeconds(argument("timeout"), SECONDS),
    metricsUrl: flags.metrics === undefined ? undefined : parseMetricsUrl(flags.metrics),
    /** A path without an extension, in an existing folder; null if no file is written. */
    reportPath: flags.report === undefined ? null : parseReportPath(flags.report),
    assertions: flags.assert === undefined ? [] : parseAssertions(flags.assert, operationsOf(asked.scenario)),
    isJson: flags.json ?? false,
    isConfirmed: flags.yes ?? false,
    /** The bound on p99 of a capacity search; null for a single run. */
    p99BoundMs: flags.findCapacity ? parseMilliseconds(argument("p99")) : null,
  };
}

/** The default path is /metrics. */
function parseMetricsUrl(text: string): string {
  const url = parseHttpUrl({ name: "--metrics", text });
  if (url.pathname === "/") url.pathname = "/metrics";
  return url.href;
}

/** Checks the folder before the run, because a missing folder would lose the results of up to ten minutes. */
function parseReportPath(text: string): string {
  const path = resolve(text);
  const isInFolder = statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isInFolder) throw usageError(`--report ${text} must be in an existing folder; see --help.`);
  // `publish` adds both extensions.
  return path.replace(/\.(html|json)$/, "");
}

/** Quotes a word that contains special characters. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the command line for a report, quoted for a POSIX shell. */
export const commandOf = (args: readonly string[]): string =>
  ["bun", "run", "loadtest", ...args.map(quote)].join(" ");
