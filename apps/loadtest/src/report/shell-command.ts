/** The command that repeats a run or a capacity search, quoted for a POSIX shell. */
import type { RunOptions } from "../load/run-options.ts";
import type { Assertion } from "../measure/assertions.ts";

/** The options that determine the result. */
export interface CommandOptions {
  readonly asked: RunOptions;
  /** Also of a capacity search. */
  readonly arrivals: "poisson" | "constant";
  readonly timeoutSeconds: number;
  readonly seedDatabaseUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly assertions: readonly Assertion[];
  /** The bound of a capacity search; null for a single run. */
  readonly p99BoundMs: number | null;
}

/** Words without special characters are not quoted. */
const quote = (word: string | number): string =>
  /^[\w@%+=:,./-]+$/.test(`${word}`) ? `${word}` : `'${`${word}`.replaceAll("'", "'\\''")}'`;

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
