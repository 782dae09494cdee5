/** Calculates the intended starts of an open loop. Equal options give equal starts. */
import { createRandom } from "./random.ts";
import type { OpenLoad, RunOptions } from "./scenarios.ts";

export type ArrivalOptions = Omit<OpenLoad, "kind"> & Pick<RunOptions, "durationSeconds" | "seed">;

/**
 * Returns the intended starts in ascending order, in milliseconds after the beginning of the warm-up. Here, `durationSeconds`
 * includes the warm-up.
 */
export function arrivalTimes({ ratePerSecond, arrivals, durationSeconds, seed }: ArrivalOptions): number[] {
  const meanGapMs = 1000 / ratePerSecond;
  const endMs = durationSeconds * 1000;
  const times: number[] = [];
  if (arrivals === "constant") {
    for (let due = 0; due < endMs; due = times.length * meanGapMs) times.push(due);
    return times;
  }
  const random = createRandom(seed, "arrivals");
  // Inverse transform sampling of the exponential distribution. The logarithm is finite, because `1 - random()` is never 0.
  const gap = () => -Math.log(1 - random()) * meanGapMs;
  for (let due = gap(); due < endMs; due += gap()) times.push(due);
  return times;
}
