/**
 * The thread of the arrival clock: sleeps until shortly before each intended start and then says how many are near. A
 * thread's wait ends within a tenth of a millisecond, where the event loop's timers are a millisecond coarse.
 */

/** What the clock sends: times in ms from `startAt`, which is in ms since the epoch, and the cell that ends the wait. */
export interface ArrivalPlan {
  readonly times: Float64Array;
  readonly startAt: number;
  readonly stop: Int32Array;
}

/** Covers the way of a message to the main thread. */
const AHEAD_MS = 0.1;

declare const self: Worker;

const now = (): number => performance.timeOrigin + performance.now();

self.onmessage = ({ data: { times, startAt, stop } }: MessageEvent<ArrivalPlan>) => {
  let near = 0;
  while (near < times.length) {
    const early = startAt + (times[near] ?? 0) - now() - AHEAD_MS;
    if (early > 0 && Atomics.wait(stop, 0, 0, early) !== "timed-out") return;
    const horizon = now() + AHEAD_MS - startAt;
    while (near < times.length && (times[near] ?? 0) <= horizon) near += 1;
    self.postMessage(near);
  }
};
