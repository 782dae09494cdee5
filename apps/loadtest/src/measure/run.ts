/** Runs one measurement: sends the load and the probes, measures the CPU time of this process, and returns the result. */
import { existsSync, readFileSync } from "node:fs";
import { describeMachine } from "@latchkey/cli";
import { openArrivalClock } from "../load/arrival-clock.ts";
import { arrivalTimes } from "../load/arrivals.ts";
import { createHttpClient } from "../load/http-client.ts";
import { type MeasurementWindow, runClosedLoop, runOpenLoop } from "../load/loops.ts";
import type { PrepareOptions } from "../load/prepare-requests.ts";
import type { NextRequest, RunOptions } from "../load/scenarios.ts";
import type { Latency } from "./histogram.ts";
import { openProbeStream } from "./probe-stream.ts";
import { type OperationResult, Recorder } from "./recorder.ts";
import type { ServerFigures, ServerMetrics } from "./server-metrics.ts";

/** The result of a run. The terminal, the JSON file, the HTML page and the assertions all use this object. */
export type Run = Awaited<ReturnType<typeof runLoad>>;

export interface RunLoadOptions extends Omit<PrepareOptions, "onUser"> {
  /** The function that `withUsers` passes to `work`. */
  readonly next: NextRequest;
  /** Duration of the load before the measurement: the first requests find an idle service. @default 1 */
  readonly warmUpSeconds?: number | undefined;
  /** @default none: the result contains no metrics of the service */
  readonly metrics?: ServerMetrics | undefined;
  /** Called about once a second during the measurement, and once when the measurement ends. */
  readonly onSecond?: ((progress: Progress) => void) | undefined;
}

/** The result so far. A member is null if the value is not available, or not available yet. */
export interface Progress extends Pick<OperationResult, "latency" | "statuses" | "connectionErrors"> {
  readonly elapsedSeconds: number;
  readonly completedPerSecond: number | null;
  readonly server: ServerFigures | null;
}

const WARM_UP_SECONDS = 1;
/** Time for the probes to start: without this delay, the first request would be late. */
const START_DELAY_MS = 50;

/** Takes at most the warm-up, the duration and the timeout together. After an abort, the result covers the time until then. */
export async function runLoad(options: RunLoadOptions) {
  const { asked, next, metrics, onSecond, signal, timeoutSeconds, warmUpSeconds = WARM_UP_SECONDS } = options;
  const client = createHttpClient(asked.url, timeoutSeconds * 1000);
  const startedAt = new Date().toISOString();
  const { load, seed, durationSeconds } = asked;
  const clock =
    load.kind === "open"
      ? await openArrivalClock(arrivalTimes({ ...load, seed, warmUpSeconds, durationSeconds }))
      : null;
  const probes = await openProbeStream();
  const startAt = performance.now() + START_DELAY_MS;
  const from = startAt + warmUpSeconds * 1000;
  const window = { from, to: from + durationSeconds * 1000 };
  const recorder = new Recorder(window, load.kind);
  probes.start(asked.url, window);
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
  // A timer can fire slightly early. A complete run therefore ends at `window.to`, not at the current time.
  const countedSeconds = recorder.end(signal.aborted ? performance.now() : window.to);
  const shares = watch.stop();
  report();
  client.close();
  const { lateness } = recorder;
  const result = recorder.result(countedSeconds);
  return {
    version: 1,
    /** ISO 8601. */
    startedAt,
    /** The machine of the load generator. */
    machine: describeMachine({ loadAverage: false }),
    asked,
    /** `interrupted`: a signal ended the run, and the result covers the time until the signal. */
    outcome: signal.aborted ? "interrupted" : "complete",
    /** Whether significantly fewer requests were answered than were offered; false in a closed loop. */
    overloaded: isOverloaded(asked, result.all, countedSeconds),
    countedSeconds,
    ...result,
    seconds: recorder.seconds(),
    probe: await probes.stop(),
    /** If the load generator was the bottleneck, the measurement does not describe the service. */
    driver: { ...shares, lateness, bottleneck: bottleneckOf({ ...result.all, ...shares, lateness }) },
    /** Null if the option `metrics` is not set. */
    server: metrics?.peak() ?? null,
  } as const;
}

/** The minimum share of the offered requests that must be answered. */
const MIN_ANSWERED_SHARE = 0.95;

/**
 * Tolerates noise: the number of pending requests differs between the beginning and the end of a run, even if the service keeps
 * up. For Poisson arrivals, the standard deviation of this difference is √(2 × rate × latency), according to Little's law.
 */
function isOverloaded({ load }: RunOptions, all: OperationResult, seconds: number): boolean {
  if (load.kind === "closed") return false;
  const offered = Math.min(all.sent, load.ratePerSecond * seconds);
  const noise = 3 * Math.sqrt((2 * load.ratePerSecond * (all.latency?.p50 ?? 0)) / 1000);
  return all.perSecond * seconds < MIN_ANSWERED_SHARE * offered - noise;
}

const SCHEDSTAT = "/proc/self/schedstat";

/** Returns, in milliseconds, the CPU time of this process, and the time that the main thread waited for a core (Linux only). */
function readUsage() {
  const { user, system } = process.cpuUsage();
  const [, waitedNs = 0] = existsSync(SCHEDSTAT)
    ? readFileSync(SCHEDSTAT, "utf8").split(" ").map(Number)
    : [];
  return { cpuMs: (user + system) / 1000, waitMs: waitedNs / 1e6 };
}

/**
 * Calls `onSecond` after each second of the window except the last one. The timer of the last second can be late, so `runLoad`
 * reports that second itself. Measures the CPU time of this process in the window.
 */
function watchWindow({ from, to }: MeasurementWindow, onSecond: () => void) {
  let before = readUsage();
  let shares: Pick<LoadGeneratorFigures, "cpuShare" | "waitShare"> | null = null;
  let ticks: Timer | undefined;
  const begin = setTimeout(() => {
    before = readUsage();
    ticks = setInterval(onSecond, 1000);
  }, from - performance.now());
  const stop = () => {
    for (const timer of [begin, end, ticks]) clearTimeout(timer);
    const { cpuMs, waitMs } = readUsage();
    const elapsedMs = performance.now() - from;
    const share = (ms: number): number => (elapsedMs > 0 ? Math.round((1000 * ms) / elapsedMs) / 1000 : 0);
    shares ??= { cpuShare: share(cpuMs - before.cpuMs), waitShare: share(waitMs - before.waitMs) };
    return shares;
  };
  const end = setTimeout(stop, to - performance.now());
  return { stop };
}

const BOTTLENECK = "The load generator was the bottleneck";
const MAX_CPU_SHARE = 0.9;
/** At or below this CPU share, other processes, such as the service, are the cause of late requests. */
const BUSY_CPU_SHARE = 0.5;
/** The maximum lateness at p99, as a share of the p99 of the latency. The latency includes the lateness. */
const MAX_LATENESS_SHARE = 0.1;
const MIN_LATENESS_MS = 1;
/** The codes of errors that occur if no file descriptor or no port is available for another connection. */
const EXHAUSTION_CODES = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

export interface LoadGeneratorFigures extends Pick<OperationResult, "latency" | "connectionErrors"> {
  /** CPU time as a multiple of one core. */
  readonly cpuShare: number;
  /** The share of the time in which the main thread waited for a core; 0 if the operating system does not report this share. */
  readonly waitShare: number;
  /** The delay from the intended start to the sending of a request (open loop); null in a closed loop. */
  readonly lateness: Latency | null;
}

/** Returns the reason why the measurement does not describe the service, or null if there is no such reason. */
export function bottleneckOf(figures: LoadGeneratorFigures): string | null {
  const { cpuShare, waitShare, lateness, latency, connectionErrors } = figures;
  const exhausted = EXHAUSTION_CODES.find((code) => code in connectionErrors);
  if (exhausted !== undefined) return `${BOTTLENECK}: it could not open more connections (${exhausted}).`;
  const used = `used ${Math.round(100 * cpuShare)} % of a core`;
  const lateMs = lateness?.p99 ?? 0;
  if (latency !== null && lateMs > Math.max(MIN_LATENESS_MS, MAX_LATENESS_SHARE * latency.p99)) {
    const cause = cpuShare > BUSY_CPU_SHARE ? BOTTLENECK : "Other processes delayed the load generator";
    return `${cause}: it sent 1 % of the requests more than ${lateMs.toFixed(1)} ms late and ${used}.`;
  }
  if (cpuShare > MAX_CPU_SHARE) return `${BOTTLENECK}: it ${used}.`;
  // In an open loop, waiting for a core matters only if requests are late, which is checked above.
  return lateness === null && cpuShare + waitShare > MAX_CPU_SHARE
    ? `${BOTTLENECK}: it ${used}, and waited for a core ${Math.round(100 * waitShare)} % of the time.`
    : null;
}
