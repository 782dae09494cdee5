/**
 * Open loop: each request is sent when it is due, whatever became of those before it, and its latency counts from then. A
 * service that stalls is seen by everyone who would have come meanwhile (Tene, "How NOT to Measure Latency", 2015).
 */

import type { CountedWindow, Exchange, Recorder } from "../measure/recorder.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import type { HttpClient } from "./http-client.ts";
import type { NextRequest } from "./scenarios.ts";

export interface LoopOptions {
  readonly client: HttpClient;
  readonly recorder: Recorder;
  readonly next: NextRequest;
  readonly window: CountedWindow;
  /** Ends the loop at once. */
  readonly signal: AbortSignal;
}

export interface OpenLoopOptions extends LoopOptions {
  readonly clock: ArrivalClock;
  /** On the clock of `performance.now()`. */
  readonly startAt: number;
}

/** Ends when the window has, and when every request has its answer or was given up by the client. */
export async function driveOpenLoop(options: OpenLoopOptions): Promise<void> {
  const { client, recorder, next, window, signal, clock, startAt } = options;
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const drained = Promise.withResolvers<void>();
  let underWay = 0;
  let isOver = false;

  const exchange = async (due: number): Promise<void> => {
    const one: Exchange = { request: next(), due };
    underWay += 1;
    recorder.sent(one);
    recorder.answered(one, await client.send(one.request));
    underWay -= 1;
    if (isOver && underWay === 0) drained.resolve();
  };
  signal.addEventListener("abort", () => clock.stop());
  if (!signal.aborted) await clock.run(startAt, exchange);
  clock.stop();
  if (signal.aborted) return;
  await Promise.race([aborted, Bun.sleep(Math.max(0, window.to - performance.now()))]);
  isOver = true;
  if (underWay > 0 && !signal.aborted) await Promise.race([aborted, drained.promise]);
}
