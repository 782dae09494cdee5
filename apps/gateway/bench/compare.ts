/** Two servers loaded in turns, so that a busy machine is unfair to neither. */

import type { MeasuredServer } from "@latchkey/testing/measured-service";
import { type Load, measureLoad } from "./load.ts";
import { median } from "./rank-test.ts";

export interface Round {
  /** Requests per second. */
  readonly rate: number;
  /** Processor time of the server per request, which says more than the rate while others use the machine. */
  readonly microseconds: number;
}

export interface Comparison {
  readonly service: MeasuredServer;
  readonly yardstick: MeasuredServer;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly load: Load;
  /** How many count; one more before them warms both servers up. */
  readonly rounds: number;
}

export interface Rounds {
  readonly service: readonly Round[];
  readonly yardstick: readonly Round[];
}

/** Loads two servers in turns; which one is first alternates. */
export async function compare(comparison: Comparison): Promise<Rounds> {
  const results: Record<"service" | "yardstick", Round[]> = { service: [], yardstick: [] };
  const names = ["yardstick", "service"] as const;
  for (let round = -1; round < comparison.rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const measured = await measureRound(comparison[name], comparison);
      if (round >= 0) results[name].push(measured);
    }
  }
  return results;
}

async function measureRound(
  { url, pid }: MeasuredServer,
  { path, headers = {}, load }: Comparison,
): Promise<Round> {
  const before = await processorSeconds(pid);
  const rate = await measureLoad({ url: url + path, headers, ...load });
  const used = (await processorSeconds(pid)) - before;
  return { rate, microseconds: (used * 1e6) / (rate * load.seconds) };
}

/** Processor time that a process has used, where /proc tells (proc_pid_stat(5), in ticks of 1/100 s). */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export const medianRate = (rounds: readonly Round[]): number => median(rounds.map(({ rate }) => rate));
export const medianMicroseconds = (rounds: readonly Round[]): number =>
  median(rounds.map(({ microseconds }) => microseconds));

/** One line: the medians, and every round. */
export function describeRounds(rounds: readonly Round[]): string {
  const rate = Math.round(medianRate(rounds));
  const microseconds = medianMicroseconds(rounds).toFixed(1);
  const list = rounds.map((round) => Math.round(round.rate)).join(" ");
  return `${rate} requests/s, ${microseconds} µs of processor each; rounds ${list}`;
}

/** The rate of the service in percent of the yardstick's, by the medians. */
export const ratePercent = ({ service, yardstick }: Rounds): number =>
  (100 * medianRate(service)) / medianRate(yardstick);

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
