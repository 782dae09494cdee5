/**
 * Finds the highest rate of logins that the service handles without rejecting any and with the 99th percentile within a bound: an
 * open loop at increasing rates, then bisection between the last rate that passed and the first that failed. A rate fails if
 * two runs fail.
 */
import { CliError, describeMachine, EXIT, unavailable } from "@latchkey/cli";
import { prepareRequests } from "../load/prepare.ts";
import type { ServerFigures } from "../measure/results.ts";
import { type RunLoadOptions, runLoad, WARM_UP_SECONDS } from "../measure/run.ts";
import {
  type CurvePoint,
  measureServiceCurve,
  type Remaining,
  type ServiceCurveOptions,
} from "./service-curve.ts";

/** Each rate runs for the duration in `asked`, whose `load` is ignored. */
interface CapacityOptions extends Omit<ServiceCurveOptions, "onSecond" | "onPoint" | "next"> {
  readonly p99BoundMs: number;
  /** Of the rates. */
  readonly arrivals: "poisson" | "constant";
  /** Called at the beginning, after each point of the curve and after each run of a rate. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

export interface SearchProgress {
  /** Points of the curve, and rates. */
  readonly done: number;
  readonly remaining: Remaining;
  /** Null at the beginning. */
  readonly completed: CurvePoint | Step | null;
}

export type Step = Awaited<ReturnType<typeof tryRate>>["step"];

export type CapacityReport = Awaited<ReturnType<typeof findCapacity>> & {
  /** Shell command that repeats the search. */
  readonly command: string;
};

/** Proportion of the best rate of the closed loop. */
const FIRST_SHARE = 0.5;
const RAISE = 1.25;
/** Bisection ends below it: short runs do not distinguish closer rates. */
const RESOLUTION = 1.03;
const MAX_RATES = 10;
/** No rate has passed or failed. */
const UNKNOWN = { passing: 0, failing: Number.POSITIVE_INFINITY };
/** About half of the rates fail and are repeated. */
const RUNS_PER_RATE = 1.5;

/** @throws {CliError} 69 if no login succeeds, 130 if the signal came before the first point of the curve */
export async function findCapacity(options: CapacityOptions) {
  const { p99BoundMs, metrics, signal, asked, onProgress } = options;
  const startedAt = new Date().toISOString();
  const prepared = { ...options, next: await prepareRequests(options) };
  let points = 0;
  const curve = await measureServiceCurve({
    ...prepared,
    onPoint(completed, { steps, seconds }) {
      if (completed !== null) points += 1;
      const rates = remainingRates({ ...UNKNOWN, rate: FIRST_SHARE, best: 1 });
      const remaining = { steps: steps + rates, seconds: seconds + secondsOf(rates, options) };
      onProgress?.({ done: points, remaining, completed });
    },
  });
  const best = Math.max(0, ...curve.map(({ perSecond }) => perSecond));
  if (signal?.aborted && best === 0) {
    throw new CliError("Interrupted before the first measurement was complete.", EXIT.interrupted);
  }
  if (best === 0) throw unavailable(`No login at ${asked.url} succeeded.`);
  const trials = await searchRate(prepared, { best, points });
  const steps = trials.map(({ step }) => step);
  const highest = steps.filter(({ passed }) => passed).sort((a, b) => b.ratePerSecond - a.ratePerSecond)[0];
  const server = metrics?.current() ?? null;
  const loginsPerSecond = highest?.achievedPerSecond ?? 0;
  const rawPerSecond = server?.capacityPerSecond ?? 0;
  const found = {
    /** Bound on the 99th percentile, in milliseconds. */
    p99BoundMs,
    /** Achieved at the highest rate that passed; 0 if none passed. */
    loginsPerSecond,
    p99: highest?.p99 ?? null,
    /** Proportion of the raw capacity of the hashing core, 0 to 1; null without metrics. */
    shareOfRaw: rawPerSecond > 0 ? loginsPerSecond / rawPerSecond : null,
  };
  const bottleneck = trials.find(({ run }) => run.driver.bottleneck !== null)?.run.driver.bottleneck ?? null;
  return {
    version: 1,
    startedAt,
    machine: describeMachine({ loadAverage: false }),
    url: asked.url,
    steps,
    /** The basis of the planner's model. */
    curve,
    ...found,
    /** Number of hash workers; null without metrics, as the lanes of all workers together and the kernel. */
    cores: server?.workers ?? null,
    lanes: server?.lanes ?? null,
    kernel: server?.kernel ?? null,
    sentence:
      steps.length === 0
        ? "Interrupted before the first rate was complete."
        : `${signal?.aborted ? "Interrupted: " : ""}${sentenceOf(found, server, bottleneck)}`,
  };
}

async function searchRate(
  options: RunLoadOptions & CapacityOptions,
  { best, points }: { readonly best: number; readonly points: number },
) {
  const trials: Awaited<ReturnType<typeof tryRate>>[] = [];
  let { passing, failing } = UNKNOWN;
  let rate = best * FIRST_SHARE;
  const report = (completed: Step): void => {
    const rates = Math.min(MAX_RATES - trials.length, remainingRates({ passing, failing, rate, best }));
    const remaining = { steps: rates, seconds: secondsOf(rates, options) };
    options.onProgress?.({ done: points + trials.length, remaining, completed });
  };
  while (trials.length < MAX_RATES && failing / passing > RESOLUTION && !options.signal?.aborted) {
    const ratePerSecond = Math.round(rate * 10) / 10;
    let trial = await tryRate(options, ratePerSecond, 1);
    if (!trial.step.passed && trial.run.outcome === "complete") {
      // A short disturbance of the machine must not determine the capacity, in either run.
      report(trial.step);
      const { step, run } = await tryRate(options, ratePerSecond, 2);
      const isBetter = step.passed || step.achievedPerSecond >= trial.step.achievedPerSecond;
      trial = { step: isBetter ? step : { ...trial.step, attempts: 2 }, run };
    }
    if (trial.run.outcome === "interrupted") break;
    trials.push(trial);
    if (trial.step.passed) passing = ratePerSecond;
    else failing = ratePerSecond;
    rate = failing === Number.POSITIVE_INFINITY ? passing * RAISE : (passing + failing) / 2;
    report(trial.step);
  }
  return trials;
}

/** `rate` is the next one, `best` is expected to be the first that fails. */
type Bounds = Readonly<Record<"passing" | "failing" | "rate" | "best", number>>;

function remainingRates({ passing, failing, rate, best }: Bounds): number {
  const bisections = (ratio: number) => Math.max(0, Math.ceil(Math.log2((ratio - 1) / (RESOLUTION - 1))));
  if (failing !== Number.POSITIVE_INFINITY) return passing > 0 ? bisections(failing / passing) : MAX_RATES;
  const raises = Math.max(0, Math.ceil(Math.log(best / rate) / Math.log(RAISE)));
  return Math.min(MAX_RATES, raises + 1 + bisections(RAISE));
}

const secondsOf = (rates: number, { asked, warmUpSeconds = WARM_UP_SECONDS }: CapacityOptions): number =>
  RUNS_PER_RATE * rates * (warmUpSeconds + asked.durationSeconds);

async function tryRate(options: RunLoadOptions & CapacityOptions, ratePerSecond: number, attempts: number) {
  const load = { kind: "open", ratePerSecond, arrivals: options.arrivals } as const;
  const run = await runLoad({ ...options, asked: { ...options.asked, load } });
  const { sent, perSecond, latency, statuses, errors } = run.all;
  const shed = statuses["503"] ?? 0;
  const step = {
    ratePerSecond,
    /** In a short run, Poisson arrivals differ from the rate. */
    sentPerSecond: sent / options.asked.durationSeconds,
    achievedPerSecond: perSecond,
    p50: latency?.p50 ?? null,
    p99: latency?.p99 ?? null,
    shed,
    errors: errors - shed,
    /** Whether fewer logins were answered than offered. */
    overloaded: run.overloaded,
    passed: errors === 0 && !run.overloaded && latency !== null && latency.p99 <= options.p99BoundMs,
    /** A failed run is repeated once; the figures are those of the better run. */
    attempts,
  };
  return { run, step };
}

type Found = Readonly<Record<"p99BoundMs" | "loginsPerSecond", number>> &
  Readonly<Record<"p99" | "shareOfRaw", number | null>>;

function sentenceOf(found: Found, server: ServerFigures | null, bottleneck: string | null): string {
  const { p99BoundMs, loginsPerSecond, p99, shareOfRaw } = found;
  const warning = bottleneck === null ? "" : ` The load generator was a bottleneck: ${bottleneck}`;
  if (p99 === null) return `No rate had a p99 within ${p99BoundMs} ms.${warning}`;
  const rate = `${loginsPerSecond.toFixed(1)} logins/s with p99 at ${Math.round(p99)} ms (bound ${p99BoundMs} ms)`;
  if (server === null) {
    return `This machine handles ${rate}. Add --metrics for the kernel, the rate per core and the share of the raw capacity.${warning}`;
  }
  const { workers, kernel, capacityPerSecond } = server;
  const perCore = (loginsPerSecond / workers).toFixed(1);
  const cores = `${workers} hash ${workers === 1 ? "worker" : "workers"}`;
  const share =
    shareOfRaw === null
      ? ""
      : `, ${Math.round(100 * shareOfRaw)} % of the raw capacity of the hashing core, ${capacityPerSecond.toFixed(1)}/s`;
  return `This machine handles ${rate}: ${perCore} per core on ${cores} with the ${kernel} kernel${share}.${warning}`;
}
