/** Calculates the intended starts of an open loop. Equal options give equal starts. */
import { createRandom } from "./random.ts";
import type { OpenLoad, RunOptions } from "./scenarios.ts";

export interface ArrivalOptions extends Omit<OpenLoad, "kind">, Pick<RunOptions, "durationSeconds" | "seed"> {
  readonly warmUpSeconds: number;
}

/**
 * Returns the intended starts in ascending order, in milliseconds after the beginning of the warm-up. Warm-up and duration each
 * have exactly rate × time Poisson arrivals, rounded. Given their number, the arrival times of a Poisson process are independent
 * and uniformly distributed (Kingman, Poisson Processes, 1993, §2.4).
 */
export function arrivalTimes(options: ArrivalOptions): number[] {
  const { ratePerSecond, arrivals, warmUpSeconds, durationSeconds, seed } = options;
  if (arrivals === "constant") {
    const number = Math.ceil(ratePerSecond * (warmUpSeconds + durationSeconds));
    return Array.from({ length: number }, (_, index) => (index * 1000) / ratePerSecond);
  }
  const random = createRandom(seed, "arrivals");
  const during = (startSeconds: number, seconds: number): number[] =>
    Array.from(
      { length: Math.round(ratePerSecond * seconds) },
      () => (startSeconds + random() * seconds) * 1000,
    ).sort((one, other) => one - other);
  return [...during(0, warmUpSeconds), ...during(warmUpSeconds, durationSeconds)];
}
