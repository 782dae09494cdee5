/** One run from beginning to end: prepares, sends the load, probes, meters this process, and returns the result. */
import { describeMachine } from "@latchkey/cli";
import { openArrivalClock } from "../load/arrival-clock.ts";
import { arrivalTimes } from "../load/arrivals.ts";
import { createHttpClient } from "../load/http-client.ts";
import { type MeasurementWindow, runClosedLoop, runOpenLoop } from "../load/loops.ts";
import { type PrepareOptions, prepareRequests, TIMEOUT_SECONDS } from "../load/prepare.ts";
import type { RunOptions } from "../load/run-options.ts";
import type { NextRequest } from "../load/scenarios.ts";
import { startProbeStream } from "./probe-stream.ts";
import { Recorder } from "./recorder.ts";
import type { LoadGeneratorResult, OperationResult, Run, ServerFigures } from "./results.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export interface RunLoadOptions extends PrepareOptions {
  /** Load before the measurement begins: the lanes of an idle service are filled first. @default 1 */
  readonly warmUpSeconds?: number | undefined;
  /** @default the result contains no metrics of the service */
  readonly metrics?: ServerMetrics | undefined;
  /** From `prepareRequests`. @default this call prepares the requests */
  readonly next?: NextRequest | undefined;
  /** Called about once a second during the measurement, and once at its end. */
  readonly onSecond?: ((progress: Progress) => void) | undefined;
}

/** The result until now. Null: not known, or not yet. */
export interface Progress extends Pick<OperationResult, "latency" | "statuses" | "connectionErrors"> {
  readonly elapsedSeconds: number;
  readonly completedPerSecond: number | null;
  readonly server: ServerFigures | null;
}

export const WARM_UP_SECONDS = 1;
/** Time to start the probes, so that the first request is not late. */
const START_DELAY_MS = 50;

/**
 * Takes no longer than the preparation, the warm-up, the duration and the timeout together. A signal ends the run early;
 * the result covers the time until then.
 * @throws {CliError} if the run cannot begin
 */
export async function runLoad(options: RunLoadOptions): Promise<Run> {
  const { asked, metrics, onSecond, signal = new AbortController().signal } = options;
  const { timeoutSeconds = TIMEOUT_SECONDS, warmUpSeconds = WARM_UP_SECONDS } = options;
  const next = options.next ?? (await prepareRequests(options));
  const client = createHttpClient(asked.url, timeoutSeconds * 1000);
  const startedAt = new Date().toISOString();
  const { load, seed, durationSeconds } = asked;
  const totalSeconds = warmUpSeconds + durationSeconds;
  const clock =
    load.kind === "open"
      ? await openArrivalClock(arrivalTimes({ ...load, seed, durationSeconds: totalSeconds }))
      : null;
  const startAt = performance.now() + START_DELAY_MS;
  const from = startAt + warmUpSeconds * 1000;
  const window = { from, to: from + durationSeconds * 1000 };
  const recorder = new Recorder(window, load.kind);
  const probes = startProbeStream(asked.url, (milliseconds) => recorder.probed(milliseconds));
  const report = (): void => {
    const elapsedSeconds = Math.max(0, (performance.now() - from) / 1000);
    onSecond?.({
      ...recorder.result(elapsedSeconds).all,
      elapsedSeconds: Math.min(durationSeconds, elapsedSeconds),
      completedPerSecond: recorder.seconds().at(-1)?.answered ?? null,
      server: metrics?.current() ?? null,
    });
  };
  const watch = watchWindow(window, report);
  metrics?.peak();

  const loop = { client, recorder, next, window, signal };
  if (clock !== null) await runOpenLoop({ ...loop, startAt, clock });
  else if (load.kind === "closed") await runClosedLoop({ ...loop, concurrency: load.concurrency });
  // A timer may fire slightly early: a complete run has its full duration.
  const countedSeconds = recorder.end(signal.aborted ? performance.now() : window.to);
  const cpuShare = watch.stop();
  report();
  client.close();
  const { lateness, sentShare } = recorder;
  const result = recorder.result(countedSeconds);
  const { connectionErrors } = result.all;
  return {
    version: 1,
    startedAt,
    machine: describeMachine({ loadAverage: false }),
    asked,
    outcome: signal.aborted ? "interrupted" : "complete",
    overloaded: isOverloaded(asked, result.all, countedSeconds),
    countedSeconds,
    ...result,
    seconds: recorder.seconds(),
    probe: { failure: await probes.stop(), latency: recorder.probe },
    driver: {
      cpuShare,
      lateness,
      bottleneck: bottleneckOf({ cpuShare, lateness, sentShare, connectionErrors }),
    },
    server: metrics?.peak() ?? null,
  };
}

/** The share of the offered rate that is sufficient. */
const MIN_ANSWERED_SHARE = 0.95;

/**
 * The number of requests in the service differs between the beginning and the end of a run even if the service keeps up:
 * by Little's law and for Poisson arrivals, with a standard deviation of √(2 × rate × latency).
 */
function isOverloaded({ load }: RunOptions, all: OperationResult, seconds: number): boolean {
  if (load.kind === "closed") return false;
  const offered = Math.min(all.sent, load.ratePerSecond * seconds);
  const noise = 3 * Math.sqrt((2 * load.ratePerSecond * (all.latency?.p50 ?? 0)) / 1000);
  return all.perSecond * seconds < MIN_ANSWERED_SHARE * offered - noise;
}

/** Calls back after each second of the window except the last, whose timer may be late, and meters the CPU in it. */
function watchWindow({ from, to }: MeasurementWindow, onSecond: () => void) {
  let cpuShare = () => 0;
  let ticks: Timer | undefined;
  const begin = setTimeout(() => {
    cpuShare = meterCpu();
    ticks = setInterval(onSecond, 1000);
  }, from - performance.now());
  const end = setTimeout(() => {
    const share = cpuShare();
    cpuShare = () => share;
    clearInterval(ticks);
  }, to - performance.now());
  return {
    stop(): number {
      clearTimeout(begin);
      clearTimeout(end);
      clearInterval(ticks);
      return cpuShare();
    },
  };
}

const MAX_CPU_SHARE = 0.9;
const MAX_LATENESS_P99_MS = 10;
const MIN_SENT_SHARE = 0.99;
/** No file descriptor or no port is available for another connection. */
const EXHAUSTION_CODES = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

export interface LoadGeneratorFigures extends Omit<LoadGeneratorResult, "bottleneck"> {
  /** Proportion of the requests due in the window that were sent in it, 0 to 1. */
  readonly sentShare: number;
  readonly connectionErrors: OperationResult["connectionErrors"];
}

/** Why the load generator was the bottleneck; null if it was not. */
export function bottleneckOf(figures: LoadGeneratorFigures): string | null {
  const { cpuShare, lateness, sentShare, connectionErrors } = figures;
  const exhausted = EXHAUSTION_CODES.find((code) => code in connectionErrors);
  if (exhausted !== undefined) return `it could not open more connections (${exhausted}).`;
  if (sentShare < MIN_SENT_SHARE)
    return `it sent only ${(100 * sentShare).toFixed(1)} % of the requests in time.`;
  if (lateness !== null && lateness.p99 > MAX_LATENESS_P99_MS) {
    return `it sent 1 % of the requests more than ${lateness.p99.toFixed(1)} ms late.`;
  }
  return cpuShare > MAX_CPU_SHARE ? `it used ${Math.round(100 * cpuShare)} % of a core.` : null;
}

/** Starts to measure the CPU share of this process. @returns a function that returns the share since then */
function meterCpu(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const elapsedMs = performance.now() - startedAt;
    return elapsedMs > 0 ? Math.round((user + system) / elapsedMs) / 1000 : 0;
  };
}
