/** What the command line's flags mean: every wrong one is a sentence, before anything is sent. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { EXIT, LoadtestError } from "../errors.ts";
import { type Assertion, parseAssertions } from "../measure/assertions.ts";
import { type Asked, SCENARIOS, type Scenario } from "../measure/results.ts";
import { parseMilliseconds, parseNumber, parseOrigin, parseWhole } from "./arguments.ts";

/** As the parser gives them. */
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
  readonly assert?: string;
  readonly json?: boolean;
  readonly findCapacity?: boolean;
  readonly p99: string;
}

export interface Options {
  readonly asked: Asked;
  readonly timeoutSeconds: number;
  readonly seedDatabaseUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  /** Without an extension; its folder exists. */
  readonly reportPath: string | null;
  readonly assertions: readonly Assertion[];
  readonly isJson: boolean;
  /** The bound of a capacity search; null for a single run. */
  readonly p99BoundMs: number | null;
}

/** More than one tester's worth; it bounds the memory of the arrivals too. */
const MAX_RATE = 20_000;

/** @throws {LoadtestError} with exit code 64 */
export function parseOptions(flags: Flags): Options {
  const number = (name: keyof Flags, range: { min: number; max: number }) =>
    parseNumber({ name: `--${name}`, text: String(flags[name]) }, range);
  const whole = (name: keyof Flags, range: { min: number; max: number }) =>
    parseWhole({ name: `--${name}`, text: String(flags[name]) }, range);
  const asked: Asked = {
    url: parseOrigin({ name: "--url", text: flags.url }),
    scenario: oneOf("--scenario", flags.scenario, SCENARIOS),
    load:
      flags.rate === undefined
        ? { kind: "closed", concurrency: whole("concurrency", { min: 1, max: 1000 }) }
        : {
            kind: "open",
            ratePerSecond: number("rate", { min: 0.1, max: MAX_RATE }),
            arrivals: oneOf("--arrivals", flags.arrivals, ["poisson", "constant"] as const),
          },
    durationSeconds: whole("duration", { min: 1, max: 600 }),
    users: whole("users", { min: 1, max: 100_000 }),
    unknownPercent: number("unknown", { min: 0, max: 100 }),
    wrongPercent: number("wrong", { min: 0, max: 100 }),
    seed: whole("seed", { min: 0, max: 1_000_000_000 }),
  };
  expectTogether(flags, asked);
  return {
    asked,
    timeoutSeconds: whole("timeout", { min: 1, max: 600 }),
    seedDatabaseUrl: flags.seedDatabase,
    metricsUrl: flags.metrics === undefined ? undefined : parseMetricsUrl(flags.metrics),
    reportPath: flags.report === undefined ? null : parseReportPath(flags.report),
    assertions: flags.assert === undefined ? [] : parseAssertions(flags.assert),
    isJson: flags.json ?? false,
    p99BoundMs: flags.findCapacity ? parseMilliseconds({ name: "--p99", text: flags.p99 }) : null,
  };
}

function expectTogether({ findCapacity, rate, assert }: Flags, asked: Asked): void {
  if (asked.unknownPercent + asked.wrongPercent > 100) {
    throw wrong("--unknown and --wrong must not exceed 100 % together");
  }
  if (!findCapacity) return;
  const scenario: Scenario = "login";
  if (asked.scenario !== scenario) throw wrong("--find-capacity knows the scenario login only");
  if (rate !== undefined) throw wrong("--find-capacity chooses the rates itself: leave --rate out");
  if (assert !== undefined) throw wrong("--assert judges a single run, not --find-capacity");
}

function oneOf<Name extends string>(flag: string, text: string, names: readonly Name[]): Name {
  const name = names.find((known) => known === text);
  if (name === undefined) throw wrong(`${flag} must be ${names.join(" or ")}, not ${JSON.stringify(text)}`);
  return name;
}

/** The path is /metrics unless the URL has one. */
function parseMetricsUrl(text: string): string {
  parseOrigin({ name: "--metrics", text });
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = "/metrics";
  return url.href;
}

/** A run of ten minutes is not lost to a folder that is not there. */
function parseReportPath(text: string): string {
  const path = resolve(text.replace(/\.(html|json)$/, ""));
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw wrong(`--report ${text} lies in no folder that exists`);
  }
  return path;
}

const wrong = (problem: string) => new LoadtestError(`${problem}; --help shows what there is.`, EXIT.usage);
