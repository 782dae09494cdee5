/** One measurement: sends the load, probes, meters this process, and returns the result. */
import { existsSync, readFileSync } from "node:fs";
import { describeMachine } from "@latchkey/cli";
import { openArrivalClock } from "../load/arrival-clock.ts";
import { arrivalTimes } from "../load/arrivals.ts";
import { createHttpClient } from "../load/http-client.ts";
import { type MeasurementWindow, runClosedLoop, runOpenLoop } from "../load/loops.ts";
import type { PrepareOptions } from "../load/prepare-requests.ts";
import type { NextRequest, RunOptions } from "../load/scenarios.ts";
import type { Latency } from "./histogram.ts";
import { startProbeStream } from "./probe-stream.ts";
import { type OperationResult, Recorder } from "./recorder.ts";
import type { ServerFigures, ServerMetrics } from "./server-metrics.ts";

/** The one document behind the terminal, the JSON file, the HTML page and the assertions. */
export type Run = Awaited<ReturnType<typeof runLoad>>;

export interface RunLoadOptions extends Omit<PrepareOptions, "onUser"> {
  /** From `withUsers`. */
  readonly next: NextRequest;
  /** Load before the measurement begins: the lanes of an idle service are filled first. @default 1 */
  readonly warmUpSeconds?: number | undefined;
  /** @default the result contains no metrics of the service */
  readonly metrics?: ServerMetrics | undefined;
  /** Called about once a second during the measurement, and once at its end. */
  readonly onSecond?: ((progress: Progress) => void) | undefined;
}

/** The result until now. Null: not known, or not yet. */
export interface Progress extends Pick<OperationResult, "latency" | "statuses" | "connectionErrors"> {
  readonly elapsedSeconds: number;
  readonly completedPerSecond: number | null;
  readonly server: ServerFigures | null;
}

const WARM_UP_SECONDS = 1;
/** Time to start the probes: without it, the first request would be late. */
const START_DELAY_MS = 50;

/**
 * Takes no longer than the warm-up, the duration and the timeout together. A signal ends the run early;
 * the result covers the time until then.
 */
export async function runLoad(options: RunLoadOptions) {
  const { asked, next, metrics, onSecond, signal, timeoutSeconds, warmUpSeconds = WARM_UP_SECONDS } = options;
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
  const probes = startProbeStream(asked.url, window);
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
  const shares = watch.stop();
  report();
  client.close();
  const { lateness } = recorder;
  const result = recorder.result(countedSeconds);
  return {
    version: 1,
    /** ISO 8601. */
    startedAt,
    /** That of the load generator. */
    machine: describeMachine({ loadAverage: false }),
    asked,
    /** `interrupted`: ended by a signal; the result covers the time until then. */
    outcome: signal.aborted ? "interrupted" : "complete",
    /** Whether fewer requests were answered than offered; false in a closed loop. */
    overloaded: isOverloaded(asked, result.all, countedSeconds),
    countedSeconds,
    ...result,
    seconds: recorder.seconds(),
    probe: await probes.stop(),
    /** The load generator itself: if it was the bottleneck, the measurement does not describe the service. */
    driver: { ...shares, lateness, bottleneck: bottleneckOf({ ...result.all, ...shares, lateness }) },
    /** Null without metrics. */
    server: metrics?.peak() ?? null,
  } as const;
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

const SCHEDSTAT = "/proc/self/schedstat";

/** CPU time of this process, and the time in which its main thread waited for a core (Linux only), in milliseconds. */
function readUsage() {
  const { user, system } = process.cpuUsage();
  const [, waitedNs = 0] = existsSync(SCHEDSTAT)
    ? readFileSync(SCHEDSTAT, "utf8").split(" ").map(Number)
    : [];
  return { cpuMs: (user + system) / 1000, waitMs: waitedNs / 1e6 };
}

/** Calls back after each second of the window except the last, whose timer may be late, and meters this process in it. */
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
/** Below it, the load generator waited for other processes, such as the service, and not for its own work. */
const BUSY_CPU_SHARE = 0.5;
/** Of the measured 99th percentile, which includes the lateness. */
const MAX_LATENESS_SHARE = 0.1;
const MIN_LATENESS_MS = 1;
/** No file descriptor or no port is available for another connection. */
const EXHAUSTION_CODES = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

export interface LoadGeneratorFigures extends Pick<OperationResult, "latency" | "connectionErrors"> {
  /** CPU time as a multiple of one core. */
  readonly cpuShare: number;
  /** Proportion of the time in which the thread that sends requests waited for a core; 0 if the system does not report it. */
  readonly waitShare: number;
  /** How much later than intended requests were sent (open loop); null in a closed loop. */
  readonly lateness: Latency | null;
}

/** Why the measurement does not describe the service; null if it does. */
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
  // In an open loop, waiting matters only if it delays requests.
  return lateness === null && cpuShare + waitShare > MAX_CPU_SHARE
    ? `${BOTTLENECK}: it ${used}, and waited for a core ${Math.round(100 * waitShare)} % of the time.`
    : null;
}
