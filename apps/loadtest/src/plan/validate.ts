/** Holds the model against the service: runs it at shares of its capacity and simulates the very same arrivals. */

import { EXIT, LoadtestError } from "../errors.ts";
import { arrivalTimes } from "../load/arrivals.ts";
import type { Asked, Run } from "../measure/results.ts";
import { type RunOptions, runLoad, WARM_UP_SECONDS } from "../measure/run.ts";
import { type Interval, repeat } from "./repeated-simulation.ts";
import { capacityPerSecond, type ServiceModel } from "./service-model.ts";
import { simulate } from "./simulation.ts";

/** Up to 80 % each figure must lie within the bound; at 95 %, where one run says little, within what repetitions give. */
const SHARES: readonly { readonly percent: number; readonly bound: "error" | "interval" }[] = [
  { percent: 50, bound: "error" },
  { percent: 70, bound: "error" },
  { percent: 80, bound: "error" },
  { percent: 95, bound: "interval" },
];
const MAX_ERROR_PERCENT = 15;
/** A run that follows the model lies outside of what so many give once in fifty times: with 20 it were once in ten. */
const REPETITIONS = 100;

/** Accounts that log in: enough that none is asked for all the time. */
const USERS = 100;

export interface ValidationOptions {
  readonly service: ServiceModel;
  readonly url: string;
  /** What is counted of each run. */
  readonly durationSeconds: number;
  readonly seed: number;
  /** @default never */
  readonly signal?: AbortSignal;
  /** Drives the service. @default runLoad */
  readonly drive?: (options: RunOptions) => Promise<Run>;
  /** Called before each run. */
  readonly onShare?: (sharePercent: number, ratePerSecond: number) => void;
}

export interface Compared {
  readonly measured: number;
  /** For the same arrivals. */
  readonly predicted: number;
  /** Of the measured one, by which the predicted one is too high. */
  readonly errorPercent: number;
  /** For other arrivals at the same rate. */
  readonly repeated: Interval;
}

export interface Comparison {
  readonly sharePercent: number;
  readonly ratePerSecond: number;
  readonly perSecond: Compared;
  readonly p99: Compared;
  readonly agrees: boolean;
  /** Why the tester was the bottleneck of this run, so that the measurement is partly of itself; null if it was not. */
  readonly bottleneck: string | null;
}

/** @throws {LoadtestError} 69 if a run cannot begin, 130 if it was cut short */
export async function validate(options: ValidationOptions): Promise<Comparison[]> {
  const { service, durationSeconds, onShare } = options;
  const comparisons: Comparison[] = [];
  for (const { percent, bound } of SHARES) {
    const ratePerSecond = (capacityPerSecond(service) * percent) / 100;
    onShare?.(percent, ratePerSecond);
    const measured = await measure(options, ratePerSecond);
    const predicted = predict(options, ratePerSecond);
    const repeated = repeat({
      service,
      ratePerSecond,
      durationSeconds,
      warmUpSeconds: WARM_UP_SECONDS,
      repetitions: REPETITIONS,
    });
    const perSecond = compare(measured.perSecond, predicted.achievedPerSecond, repeated.perSecond);
    const p99 = compare(measured.p99, predicted.p99, repeated.p99);
    const agrees = [perSecond, p99].every(bound === "error" ? isClose : isContained);
    const { bottleneck } = measured;
    comparisons.push({ sharePercent: percent, ratePerSecond, perSecond, p99, agrees, bottleneck });
  }
  return comparisons;
}

const compare = (measured: number, predicted: number, repeated: Interval): Compared => ({
  measured,
  predicted,
  errorPercent: 100 * (predicted / measured - 1),
  repeated,
});

const isClose = ({ errorPercent }: Compared): boolean => Math.abs(errorPercent) <= MAX_ERROR_PERCENT;
const isContained = ({ measured, repeated }: Compared): boolean =>
  measured >= repeated.low && measured <= repeated.high;

async function measure(options: ValidationOptions, ratePerSecond: number) {
  const { url, durationSeconds, seed, signal, drive = runLoad } = options;
  const asked: Asked = {
    url,
    scenario: "login",
    load: { kind: "open", ratePerSecond, arrivals: "poisson" },
    durationSeconds,
    users: USERS,
    unknownPercent: 0,
    wrongPercent: 0,
    seed,
  };
  const run = await drive({ asked, signal });
  if (run.outcome === "interrupted")
    throw new LoadtestError("Interrupted: nothing is compared.", EXIT.interrupted);
  const login = run.operations.login;
  if (!login?.latency) throw new LoadtestError(`${url} answered no login.`, EXIT.unavailable);
  return { perSecond: login.perSecond, p99: login.latency.p99, bottleneck: run.driver.bottleneck };
}

function predict(options: ValidationOptions, ratePerSecond: number) {
  const { service, durationSeconds, seed } = options;
  const arrivals = arrivalTimes({
    ratePerSecond,
    arrivals: "poisson",
    durationSeconds: WARM_UP_SECONDS + durationSeconds,
    seed,
  });
  const warmUpMs = 1000 * WARM_UP_SECONDS;
  return simulate({ service, arrivals, warmUpMs, endMs: warmUpMs + 1000 * durationSeconds });
}
