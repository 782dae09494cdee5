/**
 * The thread of the arrival clock. The thread sleeps until shortly before each intended start, then posts the number of starts
 * that are past or imminent. `Atomics.wait` is accurate to 0.1 ms; timers of the event loop are accurate only to 1 ms.
 */

/** The message that the arrival clock sends to the thread. */
export interface ArrivalSchedule {
  /** The intended starts in milliseconds after `startAt`, ascending. */
  readonly times: Float64Array;
  /** In milliseconds since the epoch. */
  readonly startAt: number;
  /** The clock sets the first element to 1 to end the thread. */
  readonly stop: Int32Array;
}

/** The thread posts this long before an intended start, to compensate for the latency of a message to the main thread. */
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
