/**
 * The thread of the arrival clock: sleeps until shortly before each intended start, then posts how many starts are
 * imminent. `Atomics.wait` is accurate to 0.1 ms; timers of the event loop only to 1 ms.
 */

/** Message from the clock: times in ms from `startAt`, which is in ms since the epoch, and the cell that ends the wait. */
export interface ArrivalSchedule {
  readonly times: Float64Array;
  readonly startAt: number;
  readonly stop: Int32Array;
}

/** Compensates for the latency of a message to the main thread. */
const AHEAD_MS = 0.1;

declare const self: Worker;

const now = (): number => performance.timeOrigin + performance.now();

self.onmessage = ({ data: { times, startAt, stop } }: MessageEvent<ArrivalSchedule>) => {
  let imminent = 0;
  while (imminent < times.length) {
    const waitMs = startAt + (times[imminent] ?? 0) - now() - AHEAD_MS;
    if (waitMs > 0 && Atomics.wait(stop, 0, 0, waitMs) !== "timed-out") return;
    const horizon = now() + AHEAD_MS - startAt;
    while (imminent < times.length && (times[imminent] ?? 0) <= horizon) imminent += 1;
    self.postMessage(imminent);
  }
};
