/**
 * Finds the highest rate of logins that the service handles without rejections and with p99 within a bound. A closed loop
 * estimates the rate. Open loops try increasing rates, then bisect between the highest rate that passed and the lowest rate that
 * failed. A rate fails only if two runs fail, because a short disturbance of the machine must not determine the capacity.
 */
import { CliError, describeMachine, EXIT, unavailable } from "@latchkey/cli";
import type { RunOptions } from "../load/scenarios.ts";
import { type Run, type RunLoadOptions, runLoad } from "../measure/run.ts";

/** Each run has the duration in `asked`. The `load` in `asked` is ignored. */
interface CapacityOptions extends Omit<RunLoadOptions, "onSecond"> {
  readonly p99BoundMs: number;
  /** The arrivals of the open loops. */
  readonly arrivals: "poisson" | "constant";
  /** Called after each run. */
  readonly onStep?: ((step: SearchStep) => void) | undefined;
}

/** The result of the closed loop, or of an open loop. */
export type SearchStep = { readonly clients: number; readonly perSecond: number } | Step;

export type Step = ReturnType<typeof stepOf>;

export type CapacityReport = Awaited<ReturnType<typeof findCapacity>> & {
  /** The shell command that repeats the search. */
  readonly command: string;
};

/** Enough clients to keep all lanes of the hashing core busy. A lane is a place for one concurrent password hash. */
const CLIENTS_PER_LANE = 1.5;
/** The assumed number of lanes if the metrics are not available. */
const DEFAULT_LANES = 32;
/** The first rate of the open loops, as a proportion of the rate of the closed loop. */
const FIRST_SHARE = 0.5;
const RAISE = 1.25;
/** Bisection ends at this ratio of the lowest failed to the highest passed rate: short runs cannot distinguish closer ones. */
const RESOLUTION = 1.03;
const MAX_RATES = 10;

/** @throws {CliError} with exit code 69 if no login succeeds, 130 if `signal` is aborted before the first run is complete */
export async function findCapacity(options: CapacityOptions) {
  const { p99BoundMs, arrivals, metrics, signal, asked, onStep } = options;
  const startedAt = new Date().toISOString();
  const measure = (load: RunOptions["load"]) => runLoad({ ...options, asked: { ...asked, load } });
  const clients = Math.ceil(CLIENTS_PER_LANE * (metrics?.current().lanes ?? DEFAULT_LANES));
  const { all, outcome } = await measure({ kind: "closed", concurrency: clients });
  if (outcome === "interrupted") {
    throw new CliError("Interrupted before the first measurement was complete.", EXIT.interrupted);
  }
  if (all.perSecond === 0) throw unavailable(`No login at ${asked.url} succeeded.`);

  const rates = ratesToTry(all.perSecond);
  let trial = rates.next();
  onStep?.({ clients, perSecond: all.perSecond });
  const steps: Step[] = [];
  let bottleneck: string | null = null;
  while (!trial.done) {
    const run = await measure({ kind: "open", ratePerSecond: trial.value.ratePerSecond, arrivals });
    if (run.outcome === "interrupted") break;
    const step = stepOf(run, p99BoundMs, trial.value);
    steps.push(step);
    bottleneck ??= run.driver.bottleneck;
    trial = rates.next(step.passed);
    onStep?.(step);
  }

  // Each rate that passes is higher than all earlier rates that passed.
  const highest = steps.findLast(({ passed }) => passed);
  const server = metrics?.current() ?? null;
  const loginsPerSecond = highest?.achievedPerSecond ?? 0;
  return {
    version: 1,
    startedAt,
    machine: describeMachine({ loadAverage: false }),
    url: asked.url,
    outcome: signal.aborted ? "interrupted" : "complete",
    /** The bound on the 99th percentile, in milliseconds. */
    p99BoundMs,
    /** The rate that was achieved at the highest offered rate that passed; 0 if no rate passed. */
    loginsPerSecond,
    p99: highest?.p99 ?? null,
    /** Number of hash workers. `cores`, `kernel` and `shareOfRaw` are null without metrics. */
    cores: server?.workers ?? null,
    kernel: server?.kernel ?? null,
    /** `loginsPerSecond` as a proportion of the raw capacity of the hashing core, 0 to 1. */
    shareOfRaw: server && loginsPerSecond / server.capacityPerSecond,
    /** In chronological order. */
    steps,
    /** A sentence if the load generator distorted a measurement, otherwise null. */
    bottleneck,
  } as const;
}

/**
 * Yields the rates to try. A rate that failed is yielded a second time. `next` receives whether the previous run passed.
 * @param best the rate of the closed loop; higher rates are expected to fail
 */
export function* ratesToTry(best: number): Generator<Trial, undefined, boolean> {
  let [passing, failing, rate] = [0, Number.POSITIVE_INFINITY, best * FIRST_SHARE];
  for (let tried = 0; tried < MAX_RATES && failing / passing > RESOLUTION; tried++) {
    const ratePerSecond = Math.round(rate * 10) / 10;
    const passed = (yield { ratePerSecond, attempt: 1 }) || (yield { ratePerSecond, attempt: 2 });
    if (passed) passing = ratePerSecond;
    else failing = ratePerSecond;
    rate = Number.isFinite(failing) ? (passing + failing) / 2 : passing * RAISE;
  }
}

/** `attempt` is 2 for the repetition of a rate that failed. */
type Trial = Readonly<Record<"ratePerSecond" | "attempt", number>>;

function stepOf({ all, overloaded, asked }: Run, p99BoundMs: number, { ratePerSecond, attempt }: Trial) {
  const { sent, perSecond, latency, statuses, errors } = all;
  const shed = statuses["503"] ?? 0;
  return {
    ratePerSecond,
    /** Less than `ratePerSecond` if the load generator was late. */
    sentPerSecond: sent / asked.durationSeconds,
    achievedPerSecond: perSecond,
    p50: latency?.p50 ?? null,
    p99: latency?.p99 ?? null,
    shed,
    errors: errors - shed,
    /** Whether fewer logins were answered than were offered. */
    overloaded,
    passed: errors === 0 && !overloaded && latency !== null && latency.p99 <= p99BoundMs,
    attempt,
  };
}
