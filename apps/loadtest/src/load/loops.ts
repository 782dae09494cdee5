/** The two ways to send requests: an open loop on a schedule, a closed loop with a number of clients. */
import { setTimeout } from "node:timers/promises";
import type { ArrivalClock } from "./arrival-clock.ts";
import type { HttpClient, LoadRequest, ResponseStatus } from "./http-client.ts";
import type { NextRequest } from "./scenarios.ts";

/** The measured part of a run, on the clock of `performance.now()`. */
export type MeasurementWindow = Readonly<Record<"from" | "to", number>>;

export interface Exchange {
  readonly request: LoadRequest;
  /** Start of the latency: the intended start (open loop) or the time of sending (closed loop). */
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
  /** Ends the loop immediately. */
  readonly signal: AbortSignal;
}

/**
 * Sends requests on schedule, regardless of earlier responses; latency counts from the intended start. A stall of the
 * service therefore delays all requests that are due during it (Tene, "How NOT to Measure Latency", 2015). Ends after the
 * window when every request is complete or timed out. `startAt` is on the clock of `performance.now()`.
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

/** A rejection costs the service almost nothing; without a pause, clients would overload this process. */
const PAUSE_AFTER_REJECTION_MS = 100;

/**
 * Each client sends its next request when the previous one is complete. Ends with the window; requests pending at its end
 * are not counted, as those pending at its beginning are.
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
