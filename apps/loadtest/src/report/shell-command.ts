/** The command that repeats a run or a capacity search, quoted for a POSIX shell. */
import type { RunOptions } from "../load/run-options.ts";

/** Words without special characters are not quoted. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const commandOf = (words: readonly (string | number)[]): string =>
  ["bun", "run", "loadtest", ...words].map((word) => quote(String(word))).join(" ");

export function runCommandOf({ load, ...asked }: RunOptions): string {
  const loadOptions =
    load.kind === "open"
      ? ["--rate", load.ratePerSecond, "--arrivals", load.arrivals]
      : ["--concurrency", load.concurrency];
  return commandOf([
    ...["--url", asked.url, "--scenario", asked.scenario, ...loadOptions],
    ...["--duration", asked.durationSeconds, "--users", asked.users],
    ...["--unknown", asked.unknownPercent, "--wrong", asked.wrongPercent, "--seed", asked.seed],
  ]);
}

export const capacityCommandOf = ({ url, p99BoundMs }: { url: string; p99BoundMs: number }): string =>
  commandOf(["--url", url, "--find-capacity", "--p99", `${p99BoundMs}ms`]);
