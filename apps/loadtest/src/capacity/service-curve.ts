/** Measures logins per second by the number of concurrent clients: the speed of the hash lanes, as clients see it. */
import type { ServerFigures } from "../measure/results.ts";
import { type RunLoadOptions, runLoad, WARM_UP_SECONDS } from "../measure/run.ts";

/** Logins per second of a closed loop. */
export interface CurvePoint {
  readonly concurrency: number;
  readonly perSecond: number;
  readonly p50: number;
}

/** Without metrics. */
const DEFAULT_CORE = { workers: 2, lanes: 32 } as const;
/** Multiples of all lanes, where the rate should be constant. */
const ABOVE_ALL_LANES = [1.5, 2] as const;
/** Completed logins per client before and during the measurement, within bounds in seconds. */
const WARM_UP_ROUNDS = 1.5;
const MAX_WARM_UP_SECONDS = 10;
const MEASURED_ROUNDS = 2;
const MIN_SECONDS = 3;

export interface ServiceCurveOptions extends RunLoadOptions {
  /** Ascending. @default one client, every number of lanes per worker, and more clients than lanes */
  readonly concurrencies?: readonly number[] | undefined;
  /** Called after each point; the remaining points and seconds are those of the curve. */
  readonly onPoint?: ((point: CurvePoint | null, remaining: Remaining) => void) | undefined;
}

/** An estimate. */
export interface Remaining {
  readonly steps: number;
  readonly seconds: number;
}

/**
 * Takes 1.5 minutes for a fast service with two workers of sixteen lanes; the signal ends it early, without the interrupted
 * point.
 */
export async function measureServiceCurve(options: ServiceCurveOptions): Promise<readonly CurvePoint[]> {
  const { asked, metrics, onPoint, warmUpSeconds = WARM_UP_SECONDS } = options;
  const core = metrics?.current() ?? DEFAULT_CORE;
  const concurrencies = options.concurrencies ?? concurrenciesOf(core);
  const curve: CurvePoint[] = [];
  let best = 0;
  const timesOf = (concurrency: number) => {
    const roundSeconds = best > 0 ? concurrency / best : 0;
    const rounds = Math.max(MIN_SECONDS, Math.ceil(MEASURED_ROUNDS * roundSeconds));
    return {
      warmUpSeconds: Math.min(MAX_WARM_UP_SECONDS, Math.max(warmUpSeconds, WARM_UP_ROUNDS * roundSeconds)),
      // The points that determine the capacity are measured longest.
      durationSeconds:
        concurrency > core.lanes ? asked.durationSeconds : Math.min(asked.durationSeconds, rounds),
    };
  };
  const report = (point: CurvePoint | null): void => {
    const rest = concurrencies.slice(curve.length).map(timesOf);
    const seconds = rest.reduce((sum, each) => sum + each.warmUpSeconds + each.durationSeconds, 0);
    onPoint?.(point, { steps: rest.length, seconds });
  };
  report(null);
  for (const concurrency of concurrencies) {
    const { durationSeconds, ...times } = timesOf(concurrency);
    const load = { kind: "closed", concurrency } as const;
    const { all, outcome } = await runLoad({
      ...options,
      ...times,
      asked: { ...asked, load, durationSeconds },
    });
    if (outcome === "interrupted" || all.latency === null) break;
    // Little's law: responses arrive in batches of many lanes, which counting by seconds would split.
    const perSecond = all.errors === 0 ? (1000 * concurrency) / all.latency.mean : all.perSecond;
    const point = { concurrency, perSecond: Math.round(10 * perSecond) / 10, p50: all.latency.p50 };
    best = Math.max(best, point.perSecond);
    curve.push(point);
    report(point);
  }
  return curve;
}

/**
 * The duration of a login is a step function of the busy lanes, since kernels advance fixed numbers of lanes. Every step is
 * measured: linear interpolation would be wrong by up to a quarter.
 */
function concurrenciesOf({ workers, lanes }: Pick<ServerFigures, "workers" | "lanes">): readonly number[] {
  const steps = Array.from({ length: lanes / workers }, (_, index) => workers * (index + 1));
  return [...new Set([1, ...steps, ...ABOVE_ALL_LANES.map((factor) => Math.ceil(factor * lanes))])];
}
