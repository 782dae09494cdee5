/**
 * Finds the highest rate of logins that the service handles without rejecting any and with the 99th percentile within a bound. A
 * closed loop estimates it. Open loops at increasing rates follow, then bisection between the highest rate that passed and the
 * lowest that failed. A rate fails only if two runs fail: a short disturbance of the machine must not determine the capacity.
 */
import { CliError, describeMachine, EXIT, unavailable } from "@latchkey/cli";
import type { RunOptions } from "../load/scenarios.ts";
import { type Run, type RunLoadOptions, runLoad } from "../measure/run.ts";

/** Each run has the duration in `asked`, whose `load` is ignored. */
interface CapacityOptions extends Omit<RunLoadOptions, "onSecond"> {
  readonly p99BoundMs: number;
  /** Of the open loops. */
  readonly arrivals: "poisson" | "constant";
  /** Called after each run. */
  readonly onStep?: ((step: SearchStep) => void) | undefined;
}

/** The closed loop or an open loop. */
export type SearchStep = { readonly clients: number; readonly perSecond: number } | Step;

export type Step = ReturnType<typeof stepOf>;

export type CapacityReport = Awaited<ReturnType<typeof findCapacity>> & {
  /** Shell command that repeats the search. */
  readonly command: string;
};

/** Enough clients to keep all lanes busy. */
const CLIENTS_PER_LANE = 1.5;
/** Without metrics. */
const DEFAULT_LANES = 32;
/** Proportion of the rate of the closed loop. */
const FIRST_SHARE = 0.5;
const RAISE = 1.25;
/** Bisection ends below it: short runs do not distinguish closer rates. */
const RESOLUTION = 1.03;
const MAX_RATES = 10;

/** @throws {CliError} 69 if no login succeeds, 130 if the signal came before the first run was complete */
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

  // Rates that pass increase with time.
  const highest = steps.findLast(({ passed }) => passed);
  const server = metrics?.current() ?? null;
  const loginsPerSecond = highest?.achievedPerSecond ?? 0;
  return {
    version: 1,
    startedAt,
    machine: describeMachine({ loadAverage: false }),
    url: asked.url,
    outcome: signal.aborted ? "interrupted" : "complete",
    /** Bound on the 99th percentile, in milliseconds. */
    p99BoundMs,
    /** Achieved at the highest rate that passed; 0 if none passed. */
    loginsPerSecond,
    p99: highest?.p99 ?? null,
    /** Number of hash workers; null without metrics, as the kernel and the share. */
    cores: server?.workers ?? null,
    kernel: server?.kernel ?? null,
    /** Proportion of the raw capacity of the hashing core, 0 to 1. */
    shareOfRaw: server && loginsPerSecond / server.capacityPerSecond,
    /** In order of time. */
    steps,
    /** A sentence if the load generator distorted a rate, otherwise null. */
    bottleneck,
  } as const;
}

/**
 * Yields rates, each a second time if it failed; `next` receives whether a rate passed.
 * @param best is expected to be the first rate that fails
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
    /** In a short run, Poisson arrivals differ from the rate. */
    sentPerSecond: sent / asked.durationSeconds,
    achievedPerSecond: perSecond,
    p50: latency?.p50 ?? null,
    p99: latency?.p99 ?? null,
    shed,
    errors: errors - shed,
    /** Whether fewer logins were answered than offered. */
    overloaded,
    passed: errors === 0 && !overloaded && latency !== null && latency.p99 <= p99BoundMs,
    attempt,
  };
}
