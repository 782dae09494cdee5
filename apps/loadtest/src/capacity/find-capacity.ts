/**
 * Finds the highest rate of logins that the service answers without shedding and within a bound on the 99th percentile: an
 * open loop at rising rates, then halving between the last that passed and the first that did not.
 */
import { EXIT, LoadtestError } from "../errors.ts";
import { prepareRequests } from "../load/prepare.ts";
import { describeMachine } from "../machine.ts";
import type { Asked, CapacityReport, Run, ServerFigures, Step } from "../measure/results.ts";
import { type RunOptions, runLoad } from "../measure/run.ts";
import { measureServiceCurve, type ServiceCurveOptions } from "./service-curve.ts";

export interface CapacityOptions extends Omit<ServiceCurveOptions, "onSecond" | "next"> {
  /** Its `load` is not looked at; `durationSeconds` is that of each step. */
  readonly asked: Asked;
  readonly p99BoundMs: number;
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** Of the best rate of the closed loop. */
const FIRST_SHARE = 0.5;
const RAISE = 1.25;
/** Below this the halving ends: shorter runs could not tell the rates apart. */
const RESOLUTION = 1.03;
const MAX_STEPS = 10;

/** @throws {LoadtestError} if no login is answered at all, or 130 if the signal came before any step */
export async function findCapacity(options: CapacityOptions): Promise<CapacityReport> {
  const startedAt = new Date().toISOString();
  const next = await prepareRequests(options);
  const prepared = { ...options, next };
  const curve = await measureServiceCurve(prepared);
  const best = Math.max(0, ...curve.map(({ perSecond }) => perSecond));
  if (options.signal?.aborted)
    throw new LoadtestError("Interrupted before any rate was tried.", EXIT.interrupted);
  if (best === 0) throw new LoadtestError(`${options.asked.url} answered no login.`, EXIT.unavailable);
  const runs = await raiseRate(prepared, best);
  const steps = runs.map(({ step }) => step);
  const highest = steps.filter(({ passed }) => passed).sort((a, b) => b.ratePerSecond - a.ratePerSecond)[0];
  const server = options.metrics?.current() ?? null;
  const found = {
    p99BoundMs: options.p99BoundMs,
    loginsPerSecond: highest?.achievedPerSecond ?? 0,
    p99: highest?.p99 ?? null,
    shareOfRaw:
      server && server.capacityPerSecond > 0
        ? (highest?.achievedPerSecond ?? 0) / server.capacityPerSecond
        : null,
  };
  const bottleneck = runs.find(({ run }) => run.driver.bottleneck !== null)?.run.driver.bottleneck ?? null;
  return {
    version: 1,
    startedAt,
    machine: describeMachine(),
    url: options.asked.url,
    steps,
    curve,
    ...found,
    cores: server?.workers ?? null,
    lanes: server?.lanes ?? null,
    kernel: server?.kernel ?? null,
    sentence: `${options.signal?.aborted ? "Interrupted: " : ""}${sentenceOf({ ...found, server, bottleneck })}`,
  };
}

interface Tried {
  readonly run: Run;
  readonly step: Step;
}

async function raiseRate(options: RunOptions & CapacityOptions, best: number): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  let passing = 0;
  let failing = Number.POSITIVE_INFINITY;
  let rate = best * FIRST_SHARE;
  while (tried.length < MAX_STEPS && failing / passing > RESOLUTION && !options.signal?.aborted) {
    const ratePerSecond = Math.round(rate * 10) / 10;
    const one = await tryRate(options, ratePerSecond);
    if (one.run.outcome === "interrupted") break;
    tried.push(one);
    options.onStep?.(one.step);
    if (one.step.passed) passing = ratePerSecond;
    else failing = ratePerSecond;
    rate = failing === Number.POSITIVE_INFINITY ? passing * RAISE : (passing + failing) / 2;
  }
  return tried;
}

async function tryRate(options: RunOptions & CapacityOptions, ratePerSecond: number): Promise<Tried> {
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

interface Found extends Pick<CapacityReport, "p99BoundMs" | "loginsPerSecond" | "p99" | "shareOfRaw"> {
  readonly server: ServerFigures | null;
  readonly bottleneck: string | null;
}

function sentenceOf({ p99BoundMs, loginsPerSecond, p99, shareOfRaw, server, bottleneck }: Found): string {
  const doubt = bottleneck === null ? "" : ` The load tester was a bottleneck itself: ${bottleneck}`;
  if (p99 === null) return `No rate that was tried kept p99 within ${p99BoundMs} ms.${doubt}`;
  const held = `${loginsPerSecond.toFixed(1)} logins/s with p99 at ${Math.round(p99)} ms (bound ${p99BoundMs} ms)`;
  if (server === null) {
    return `This machine answers ${held}; --metrics would add the kernel, the rate per core and the share of the raw capacity.${doubt}`;
  }
  const { workers, kernel, capacityPerSecond } = server;
  const perCore = (loginsPerSecond / workers).toFixed(1);
  const cores = `${workers} hash ${workers === 1 ? "worker" : "workers"}`;
  const share =
    shareOfRaw === null
      ? ""
      : `, ${Math.round(100 * shareOfRaw)} % of the ${capacityPerSecond.toFixed(1)}/s that its hashing core can check`;
  return `This machine answers ${held}: ${perCore} per core on ${cores} with the ${kernel} kernel${share}.${doubt}`;
}
