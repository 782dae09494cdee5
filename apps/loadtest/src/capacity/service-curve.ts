/** Logins a second by how many clients wait at once: what a service of hash lanes is, seen from outside. */

import type { CapacityReport, ServerFigures } from "../measure/results.ts";
import { type RunOptions, runLoad, WARM_UP_SECONDS } from "../measure/run.ts";

export type CurvePoint = CapacityReport["curve"][number];

/** Where the service's metrics are out of reach. */
const UNKNOWN_CORE = { workers: 2, lanes: 32 } as const;
/** Beyond all lanes, where the rate should no longer change, as multiples of them. */
const BEYOND = [1.5, 2] as const;
/** Rounds of all clients that must have passed before and while it counts, within bounds in seconds. */
const WARM_UP_ROUNDS = 1.5;
const MIN_SECONDS = 3;
const MAX_SECONDS = 10;
const TIMEOUT_SECONDS = 60;

export interface ServiceCurveOptions extends RunOptions {
  /** Clients at once of each point, ascending. @default one, every number of lanes of a worker on all, and beyond */
  readonly concurrencies?: readonly number[] | undefined;
  readonly onPoint?: ((point: CurvePoint) => void) | undefined;
}

/** One and a half minutes on a fast service with two workers of sixteen lanes; ends early with the signal. */
export async function measureServiceCurve(options: ServiceCurveOptions): Promise<readonly CurvePoint[]> {
  const { asked, metrics, onPoint, warmUpSeconds = WARM_UP_SECONDS } = options;
  const core = metrics?.current() ?? UNKNOWN_CORE;
  const { concurrencies = concurrenciesOf(core) } = options;
  const minSeconds = Math.min(MIN_SECONDS, asked.durationSeconds);
  const curve: CurvePoint[] = [];
  let best = 0;
  for (const concurrency of concurrencies) {
    if (options.signal?.aborted) break;
    const roundSeconds = best > 0 ? concurrency / best : 0;
    // What the capacity hangs on is measured longest.
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
      // A client of a slow service waits for as many before it.
      timeoutSeconds: TIMEOUT_SECONDS,
    });
    if (all.latency === null) break;
    // By Little's law: answers come in clumps of many lanes, which a count over seconds would cut.
    const perSecond = all.errors === 0 ? (1000 * concurrency) / all.latency.mean : all.perSecond;
    const point = { concurrency, perSecond: Math.round(10 * perSecond) / 10, p50: all.latency.p50 };
    best = Math.max(best, point.perSecond);
    curve.push(point);
    onPoint?.(point);
  }
  return curve;
}

/**
 * The time of a login is a staircase over the lanes that are busy with it, since kernels come in widths: every step is
 * measured, or what is drawn between two points is wrong by up to a quarter.
 */
function concurrenciesOf({ workers, lanes }: Pick<ServerFigures, "workers" | "lanes">): readonly number[] {
  const steps = Array.from({ length: lanes / workers }, (_, index) => workers * (index + 1));
  return [...new Set([1, ...steps, ...BEYOND.map((times) => Math.ceil(times * lanes))])];
}
