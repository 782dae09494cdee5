/** The two ways to send requests: an open loop sends requests on a schedule; a closed loop has a fixed number of clients. */
import { setTimeout } from "node:timers/promises";
import type { ArrivalClock } from "./arrival-clock.ts";
import type { HttpClient, LoadRequest, ResponseStatus } from "./http-client.ts";
import type { NextRequest } from "./scenarios.ts";

/** The measured part of a run, in milliseconds on the clock of `performance.now()`. */
export type MeasurementWindow = Readonly<Record<"from" | "to", number>>;

export interface Exchange {
  readonly request: LoadRequest;
  /** Latency counts from this time: the intended start of the request (open loop) or the time of sending (closed loop). */
  readonly due: number;
}

export interface LoopOptions {
  readonly client: HttpClient;
  readonly recorder: {
    sent(exchange: Exchange): void;
    completed(exchange: Exchange, response: ResponseStatus): void;
  };
  readonly next: NextRequest;
  readonly window: MeasurementWindow;
  /** An abort ends the loop immediately. */
  readonly signal: AbortSignal;
}

/**
 * Sends requests on schedule, regardless of earlier responses. Latency counts from the intended start, so a stall of the service
 * adds to the latency of all requests that are due during the stall (Tene, "How NOT to Measure Latency", 2015). Returns when the
 * window has ended and no request is pending. `startAt` is on the clock of `performance.now()`.
 */
export async function runOpenLoop(
  options: LoopOptions & { readonly clock: ArrivalClock; readonly startAt: number },
): Promise<void> {
  const { client, recorder, next, window, signal, clock, startAt } = options;
  const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const pending = new Set<Promise<void>>();
  const exchange = (due: number): void => {
    const one: Exchange = { request: next(), due };
    recorder.sent(one);
    const completed = client.send(one.request).then((response) => {
      recorder.completed(one, response);
      pending.delete(completed);
    });
    pending.add(completed);
  };
  signal.addEventListener("abort", () => clock.stop());
  if (!signal.aborted) await clock.run(startAt, exchange);
  clock.stop();
  if (signal.aborted) return;
  const windowEnd = Bun.sleep(Math.max(0, window.to - performance.now()));
  await Promise.race([aborted, Promise.all([windowEnd, ...pending])]);
}

/** The pause of a client after an unexpected response: rejections are so quick that requests would overload this process. */
const PAUSE_AFTER_REJECTION_MS = 100;

/**
 * Each client sends the next request when the previous request is complete. Returns at the end of the window. Requests that are
 * pending at the beginning of the window are counted; requests that are pending at the end are not counted.
 */
export async function runClosedLoop(options: LoopOptions & { readonly concurrency: number }): Promise<void> {
  const { client, recorder, next, window, signal, concurrency } = options;
  let isOver = signal.aborted;
  const runClient = async (): Promise<void> => {
    while (!isOver) {
      const one: Exchange = { request: next(), due: performance.now() };
      recorder.sent(one);
      const response = await client.send(one.request);
      recorder.completed(one, response);
      if (response.status !== String(one.request.expected)) await Bun.sleep(PAUSE_AFTER_REJECTION_MS);
    }
  };
  for (let index = 0; index < concurrency; index++) void runClient();
  await setTimeout(window.to - performance.now(), undefined, { signal }).catch(() => undefined);
  isOver = true;
}
