/** Compares the model with the service: measures runs at percentages of the capacity and simulates the same arrivals. */
import { CliError, EXIT, unavailable } from "@latchkey/cli";
import type { RunOptions } from "../load/run-options.ts";
import type { Run } from "../measure/results.ts";
import { type RunLoadOptions, runLoad, WARM_UP_SECONDS } from "../measure/run.ts";
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";
import { type Interval, repeatSimulation, simulateRun } from "./simulation.ts";

/** Of the capacity. */
const PERCENTAGES = [50, 70, 80, 95];
/** Up to it the error is bounded. Above it, where a single run is unreliable, the repetitions give the bounds. */
const MAX_RELIABLE_PERCENT = 80;
const MAX_ERROR_PERCENT = 15;
/** A run that follows the model is outside the interval once in fifty times; with 20 repetitions once in ten. */
const REPETITIONS = 100;
/** Enough users that no single one dominates the logins. */
const USERS = 100;

export interface ValidationOptions {
  readonly service: ServiceModel;
  readonly url: string;
  /** Of each run, without the warm-up. */
  readonly durationSeconds: number;
  readonly seed: number;
  /** @default never */
  readonly signal?: AbortSignal;
  /** @default runLoad */
  readonly run?: (options: RunLoadOptions) => Promise<Run>;
  /** Called before each run. */
  readonly onShare?: (sharePercent: number, ratePerSecond: number) => void;
}

export type Compared = ReturnType<typeof compare>;
export type Comparison = Awaited<ReturnType<typeof validate>>[number];

/**
 * The signal ends it early, with the comparisons that are complete.
 * @throws {CliError} 69 if a run cannot begin, 130 if the first one was interrupted
 */
export async function validate(options: ValidationOptions) {
  const { service, durationSeconds, seed, onShare } = options;
  const comparisons = [];
  for (const percent of PERCENTAGES) {
    const ratePerSecond = (capacityPerSecond(service) * percent) / 100;
    onShare?.(percent, ratePerSecond);
    const measured = await measure(options, ratePerSecond);
    if (measured === null && comparisons.length > 0) break;
    if (measured === null) throw new CliError("Interrupted before the comparison.", EXIT.interrupted);
    const rate = { service, ratePerSecond, durationSeconds, warmUpSeconds: WARM_UP_SECONDS };
    const predicted = simulateRun(rate, seed);
    const repeated = repeatSimulation(rate, REPETITIONS);
    const perSecond = compare(measured.perSecond, predicted.achievedPerSecond, repeated.perSecond);
    const p99 = compare(measured.p99, predicted.p99, repeated.p99);
    const agrees = [perSecond, p99].every(percent <= MAX_RELIABLE_PERCENT ? isClose : isContained);
    const { bottleneck } = measured;
    comparisons.push({ sharePercent: percent, ratePerSecond, perSecond, p99, agrees, bottleneck });
  }
  return comparisons;
}

const compare = (measured: number, predicted: number, repeated: Interval) => ({
  measured,
  /** For the same arrivals. */
  predicted,
  /** By how much the prediction is too high, as a percentage of the measured value. */
  errorPercent: 100 * (predicted / measured - 1),
  /** For other arrivals at the same rate. */
  repeated,
});

const isClose = ({ errorPercent }: Compared): boolean => Math.abs(errorPercent) <= MAX_ERROR_PERCENT;
const isContained = ({ measured, repeated }: Compared): boolean =>
  measured >= repeated.low && measured <= repeated.high;

/** Null if the run was interrupted. */
async function measure(options: ValidationOptions, ratePerSecond: number) {
  const { url, durationSeconds, seed, signal, run = runLoad } = options;
  const asked: RunOptions = {
    url,
    scenario: "login",
    load: { kind: "open", ratePerSecond, arrivals: "poisson" },
    durationSeconds,
    users: USERS,
    unknownPercent: 0,
    wrongPercent: 0,
    seed,
  };
  const { outcome, operations, driver } = await run({ asked, signal });
  if (outcome === "interrupted") return null;
  const { login } = operations;
  if (!login?.latency) throw unavailable(`No login at ${url} succeeded.`);
  return { perSecond: login.perSecond, p99: login.latency.p99, bottleneck: driver.bottleneck };
}
