/** One run from beginning to end: prepares, drives, probes, watches, and says what it came to. */

import type { Progress } from "../cli/live-view.ts";
import { openArrivalClock } from "../load/arrival-clock.ts";
import { arrivalTimes } from "../load/arrivals.ts";
import { driveClosedLoop } from "../load/closed-loop.ts";
import { createHttpClient } from "../load/http-client.ts";
import { driveOpenLoop, type LoopOptions } from "../load/open-loop.ts";
import { type PrepareOptions, prepareRequests } from "../load/prepare.ts";
import type { NextRequest } from "../load/scenarios.ts";
import { describeMachine } from "../machine.ts";
import { judgeDriver, meterCpu } from "./load-generator.ts";
import { startProbeStream } from "./probe-stream.ts";
import { Recorder } from "./recorder.ts";
import type { Asked, Run } from "./results.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export interface RunOptions extends PrepareOptions {
  /** Seconds that an answer may take. @default 10 */
  readonly timeoutSeconds?: number | undefined;
  /** Seconds of load before anything counts: the lanes of an idle service fill first. @default 1 */
  readonly warmUpSeconds?: number | undefined;
  /** @default what the service says of itself is not asked */
  readonly metrics?: ServerMetrics | undefined;
  /** What to send, from `prepareRequests`. @default prepared by this call */
  readonly next?: NextRequest | undefined;
  /** Called about once a second while it counts, and once more at the end. */
  readonly onSecond?: ((progress: Progress) => void) | undefined;
}

export const WARM_UP_SECONDS = 1;
export const TIMEOUT_SECONDS = 10;
/** Between the decision to start and the start, so that the first request is not late. */
const LEAD_MS = 50;

/**
 * Never more than the warm-up, the duration and the timeout together, after the preparation. A signal ends it early: what
 * came until then is the result.
 * @throws {LoadtestError} if it cannot begin
 */
export async function runLoad(options: RunOptions): Promise<Run> {
  const { asked, metrics, onSecond, signal = new AbortController().signal } = options;
  const { timeoutSeconds = TIMEOUT_SECONDS, warmUpSeconds = WARM_UP_SECONDS } = options;
  const next = options.next ?? (await prepareRequests(options));
  const client = createHttpClient({ url: asked.url, timeoutMs: timeoutSeconds * 1000 });
  const startedAt = new Date().toISOString();
  const beginLoop = await createLoop(asked, warmUpSeconds);
  const startAt = performance.now() + LEAD_MS;
  const from = startAt + warmUpSeconds * 1000;
  const window = { from, to: from + asked.durationSeconds * 1000 };
  const recorder = new Recorder(window, asked.load.kind);
  const probes = startProbeStream(asked.url, (milliseconds) => recorder.probed(milliseconds));
  const report = (): void => onSecond?.(progressOf({ asked, recorder, metrics, window }));
  const watch = watchWindow(window, report);
  metrics?.peak();

  await beginLoop(startAt, { client, recorder, next, window, signal });
  // A timer may end a hair early: what was not cut short has its full length.
  const countedSeconds = recorder.end(signal.aborted ? performance.now() : window.to);
  const cpuShare = watch.stop();
  report();
  client.close();
  const { lateness, sentShare, faults } = recorder;
  return {
    version: 1,
    startedAt,
    machine: describeMachine(),
    asked,
    outcome: signal.aborted ? "interrupted" : "complete",
    countedSeconds,
    ...recorder.result(countedSeconds),
    seconds: recorder.seconds(),
    probe: { failure: await probes.stop(), latency: recorder.probe },
    driver: judgeDriver({ cpuShare, lateness, sentShare, faults }),
    server: metrics?.peak() ?? null,
  };
}

type BeginLoop = (startAt: number, options: LoopOptions) => Promise<void>;

async function createLoop({ load, durationSeconds, seed }: Asked, warmUpSeconds: number): Promise<BeginLoop> {
  if (load.kind === "closed") {
    const { concurrency } = load;
    return (_, options) => driveClosedLoop({ ...options, concurrency });
  }
  const { ratePerSecond, arrivals } = load;
  const times = arrivalTimes({
    ratePerSecond,
    arrivals,
    seed,
    durationSeconds: warmUpSeconds + durationSeconds,
  });
  const clock = await openArrivalClock(times);
  return (startAt, options) => driveOpenLoop({ ...options, startAt, clock });
}

/** Calls back after each second of the window but the last, which may come too late, and meters the processor within it. */
function watchWindow({ from, to }: { from: number; to: number }, onSecond: () => void) {
  let cpuShare: (() => number) | null = null;
  let share: number | null = null;
  let ticks: Timer | undefined;
  const begin = setTimeout(() => {
    cpuShare = meterCpu();
    ticks = setInterval(onSecond, 1000);
  }, from - performance.now());
  const end = setTimeout(() => {
    share = cpuShare?.() ?? 0;
    clearInterval(ticks);
  }, to - performance.now());
  return {
    stop(): number {
      clearTimeout(begin);
      clearTimeout(end);
      clearInterval(ticks);
      return share ?? cpuShare?.() ?? 0;
    },
  };
}

interface Situation extends Pick<RunOptions, "asked" | "metrics"> {
  readonly recorder: Recorder;
  readonly window: { readonly from: number };
}

function progressOf({ asked, recorder, metrics, window }: Situation): Progress {
  const elapsedSeconds = Math.max(0, (performance.now() - window.from) / 1000);
  const { statuses, latency } = recorder.result(elapsedSeconds).all;
  return {
    elapsedSeconds: Math.min(asked.durationSeconds, elapsedSeconds),
    durationSeconds: asked.durationSeconds,
    offeredPerSecond: asked.load.kind === "open" ? asked.load.ratePerSecond : null,
    answeredPerSecond: recorder.seconds().at(-1)?.answered ?? null,
    p50: latency?.p50 ?? null,
    p95: latency?.p95 ?? null,
    p99: latency?.p99 ?? null,
    statuses,
    server: metrics?.current() ?? null,
  };
}
