/** When the requests of an open loop are due. The same question always has the same answer, so a model can replay a run. */
import { createRandom } from "./random.ts";

export interface ArrivalOptions {
  /** Above 0. */
  readonly ratePerSecond: number;
  /** `poisson`: independent users, exponential gaps; `constant`: equal gaps. */
  readonly arrivals: "poisson" | "constant";
  /** From the beginning; a run's includes its warm-up of `WARM_UP_SECONDS`. */
  readonly durationSeconds: number;
  readonly seed: number;
}

/** Intended starts in milliseconds from the beginning, ascending, all before the end of the duration. */
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
