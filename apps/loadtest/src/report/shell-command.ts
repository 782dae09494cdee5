/** The command that would ask the same again, ready to be pasted into a shell. */
import type { Asked } from "../measure/results.ts";

/** A word that a POSIX shell reads as it stands is left as it is. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const join = (words: readonly (string | number)[]): string =>
  words.map((word) => quote(String(word))).join(" ");

export function commandOf({ load, ...asked }: Asked): string {
  const loadOptions =
    load.kind === "open"
      ? ["--rate", load.ratePerSecond, "--arrivals", load.arrivals]
      : ["--concurrency", load.concurrency];
  return join([
    ...["bun", "run", "loadtest", "--url", asked.url, "--scenario", asked.scenario, ...loadOptions],
    ...["--duration", asked.durationSeconds, "--users", asked.users],
    ...["--unknown", asked.unknownPercent, "--wrong", asked.wrongPercent, "--seed", asked.seed],
  ]);
}

export const capacityCommandOf = ({ url, p99BoundMs }: { url: string; p99BoundMs: number }): string =>
  join(["bun", "run", "loadtest", "--url", url, "--find-capacity", "--p99", `${p99BoundMs}ms`]);
