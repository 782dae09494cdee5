/** Intended start times of an open loop. Equal options give equal times. */
import { createRandom } from "./random.ts";

export interface ArrivalOptions {
  /** Above 0. */
  readonly ratePerSecond: number;
  /** `poisson`: independent users, exponential gaps; `constant`: equal gaps. */
  readonly arrivals: "poisson" | "constant";
  /** Including the warm-up of a run. */
  readonly durationSeconds: number;
  readonly seed: number;
}

/** Milliseconds from the beginning, ascending, all before the end of the duration. */
export function arrivalTimes({ ratePerSecond, arrivals, durationSeconds, seed }: ArrivalOptions): number[] {
  const meanGapMs = 1000 / ratePerSecond;
  const endMs = durationSeconds * 1000;
  const times: number[] = [];
  if (arrivals === "constant") {
    for (let due = 0; due < endMs; due = times.length * meanGapMs) times.push(due);
    return times;
  }
  const random = createRandom(seed, "arrivals");
  // Inverse transform of the exponential distribution; 1 - random() is never 0.
  const gap = () => -Math.log(1 - random()) * meanGapMs;
  for (let due = gap(); due < endMs; due += gap()) times.push(due);
  return times;
}
