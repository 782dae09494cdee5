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
const MIN_SECONDS = 3;
const MAX_SECONDS = 10;
const TIMEOUT_SECONDS = 60;

export interface ServiceCurveOptions extends RunLoadOptions {
  /** Ascending. @default one client, every number of lanes per worker, and more clients than lanes */
  readonly concurrencies?: readonly number[] | undefined;
  readonly onPoint?: ((point: CurvePoint) => void) | undefined;
}

/** Takes 1.5 minutes for a fast service with two workers of sixteen lanes; the signal ends it early. */
export async function measureServiceCurve(options: ServiceCurveOptions): Promise<readonly CurvePoint[]> {
  const { asked, metrics, onPoint, warmUpSeconds = WARM_UP_SECONDS } = options;
  const core = metrics?.current() ?? DEFAULT_CORE;
  const minSeconds = Math.min(MIN_SECONDS, asked.durationSeconds);
  const curve: CurvePoint[] = [];
  let best = 0;
  for (const concurrency of options.concurrencies ?? concurrenciesOf(core)) {
    if (options.signal?.aborted) break;
    const roundSeconds = best > 0 ? concurrency / best : 0;
    // The points that determine the capacity are measured longest.
    const durationSeconds =
      concurrency > core.lanes ? asked.durationSeconds : Math.max(minSeconds, Math.ceil(2 * roundSeconds));
    const { all } = await runLoad({
      ...options,
      asked: {
        ...asked,
        load: { kind: "closed", concurrency },
        durationSeconds: Math.min(MAX_SECONDS, durationSeconds),
      },
      warmUpSeconds: Math.min(MAX_SECONDS, Math.max(warmUpSeconds, WARM_UP_ROUNDS * roundSeconds)),
      // In a slow service a client waits for all other clients.
      timeoutSeconds: TIMEOUT_SECONDS,
    });
    if (all.latency === null) break;
    // Little's law: responses arrive in batches of many lanes, which counting by seconds would split.
    const perSecond = all.errors === 0 ? (1000 * concurrency) / all.latency.mean : all.perSecond;
    const point = { concurrency, perSecond: Math.round(10 * perSecond) / 10, p50: all.latency.p50 };
    best = Math.max(best, point.perSecond);
    curve.push(point);
    onPoint?.(point);
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
