/**
 * Finds the highest rate of logins that the service handles without shedding and with the 99th percentile within a bound: an
 * open loop at increasing rates, then bisection between the last rate that passed and the first that failed.
 */
import { CliError, describeMachine, EXIT, unavailable } from "@latchkey/cli";
import { prepareRequests } from "../load/prepare.ts";
import type { Run, ServerFigures } from "../measure/results.ts";
import { type RunLoadOptions, runLoad } from "../measure/run.ts";
import { type CurvePoint, measureServiceCurve, type ServiceCurveOptions } from "./service-curve.ts";

/** Each step runs for the duration in `asked`, whose `load` is ignored. */
export interface CapacityOptions extends Omit<ServiceCurveOptions, "onSecond" | "next"> {
  readonly p99BoundMs: number;
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** One rate of the search. */
export interface Step {
  readonly ratePerSecond: number;
  readonly achievedPerSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly shed: number;
  readonly errors: number;
  readonly passed: boolean;
}

export interface CapacityReport {
  readonly version: 1;
  readonly startedAt: string;
  readonly machine: string;
  readonly url: string;
  /** Bound on the 99th percentile, in milliseconds. */
  readonly p99BoundMs: number;
  readonly steps: readonly Step[];
  /** The basis of the planner's model. */
  readonly curve: readonly CurvePoint[];
  /** Achieved at the highest rate that passed; 0 if none passed. */
  readonly loginsPerSecond: number;
  readonly p99: number | null;
  /** Number of hash workers; null without metrics. */
  readonly cores: number | null;
  /** Lanes of all workers together; absent or null without metrics. */
  readonly lanes?: number | null;
  readonly kernel: string | null;
  /** Proportion of the raw capacity of the hashing core, 0 to 1; null without metrics. */
  readonly shareOfRaw: number | null;
  readonly sentence: string;
}

/** Proportion of the best rate of the closed loop. */
const FIRST_SHARE = 0.5;
const RAISE = 1.25;
/** Bisection ends below it: short runs do not distinguish closer rates. */
const RESOLUTION = 1.03;
const MAX_STEPS = 10;

/** @throws {CliError} 69 if no login succeeds, 130 if the signal came before the first step */
export async function findCapacity(options: CapacityOptions): Promise<CapacityReport> {
  const { p99BoundMs, metrics, signal, asked } = options;
  const startedAt = new Date().toISOString();
  const prepared = { ...options, next: await prepareRequests(options) };
  const curve = await measureServiceCurve(prepared);
  const best = Math.max(0, ...curve.map(({ perSecond }) => perSecond));
  if (signal?.aborted) throw new CliError("Interrupted before the first rate.", EXIT.interrupted);
  if (best === 0) throw unavailable(`No login at ${asked.url} succeeded.`);
  const trials = await searchRate(prepared, best);
  const steps = trials.map(({ step }) => step);
  const highest = steps.filter(({ passed }) => passed).sort((a, b) => b.ratePerSecond - a.ratePerSecond)[0];
  const server = metrics?.current() ?? null;
  const loginsPerSecond = highest?.achievedPerSecond ?? 0;
  const rawPerSecond = server?.capacityPerSecond ?? 0;
  const found = {
    p99BoundMs,
    loginsPerSecond,
    p99: highest?.p99 ?? null,
    shareOfRaw: rawPerSecond > 0 ? loginsPerSecond / rawPerSecond : null,
  };
  const bottleneck = trials.find(({ run }) => run.driver.bottleneck !== null)?.run.driver.bottleneck ?? null;
  return {
    version: 1,
    startedAt,
    machine: describeMachine({ loadAverage: false }),
    url: asked.url,
    steps,
    curve,
    ...found,
    cores: server?.workers ?? null,
    lanes: server?.lanes ?? null,
    kernel: server?.kernel ?? null,
    sentence: `${signal?.aborted ? "Interrupted: " : ""}${sentenceOf(found, server, bottleneck)}`,
  };
}

interface Trial {
  readonly run: Run;
  readonly step: Step;
}

async function searchRate(
  options: RunLoadOptions & CapacityOptions,
  best: number,
): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  let passing = 0;
  let failing = Number.POSITIVE_INFINITY;
  let rate = best * FIRST_SHARE;
  while (trials.length < MAX_STEPS && failing / passing > RESOLUTION && !options.signal?.aborted) {
    const ratePerSecond = Math.round(rate * 10) / 10;
    const trial = await tryRate(options, ratePerSecond);
    if (trial.run.outcome === "interrupted") break;
    trials.push(trial);
    options.onStep?.(trial.step);
    if (trial.step.passed) passing = ratePerSecond;
    else failing = ratePerSecond;
    rate = failing === Number.POSITIVE_INFINITY ? passing * RAISE : (passing + failing) / 2;
  }
  return trials;
}

async function tryRate(options: RunLoadOptions & CapacityOptions, ratePerSecond: number): Promise<Trial> {
  const load = { kind: "open", ratePerSecond, arrivals: "poisson" } as const;
  const run = await runLoad({ ...options, asked: { ...options.asked, load } });
  const { perSecond, latency, statuses, errors } = run.all;
  const shed = statuses["503"] ?? 0;
  const step = {
    ratePerSecond,
    achievedPerSecond: perSecond,
    p50: latency?.p50 ?? null,
    p99: latency?.p99 ?? null,
    shed,
    errors: errors - shed,
    passed: errors === 0 && latency !== null && latency.p99 <= options.p99BoundMs,
  };
  return { run, step };
}

type Found = Pick<CapacityReport, "p99BoundMs" | "loginsPerSecond" | "p99" | "shareOfRaw">;

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
