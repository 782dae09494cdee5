/** Calls a function at each intended start, at most some hundredths of a millisecond late unless overloaded. */
import type { ArrivalSchedule } from "./arrival-thread.ts";

export type ArrivalClock = Awaited<ReturnType<typeof openArrivalClock>>;

const MAX_CALLS_PER_TURN = 16;

/** @param times the intended starts in milliseconds after the `startAt` of `run`, ascending */
export async function openArrivalClock(times: readonly number[]) {
  const thread = new Worker(new URL("./arrival-thread.ts", import.meta.url));
  await new Promise((resolve) => thread.addEventListener("open", resolve, { once: true }));
  const shared = new Float64Array(new SharedArrayBuffer(times.length * Float64Array.BYTES_PER_ELEMENT));
  shared.set(times);
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const ended = Promise.withResolvers<void>();

  return {
    /**
     * Resolves after the last call of `onDue`, or when `stop` is called.
     * @param startAt the beginning of the schedule, on the clock of `performance.now()`
     * @param onDue receives each intended start, on the clock of `performance.now()`
     */
    async run(startAt: number, onDue: (due: number) => void): Promise<void> {
      let imminent = 0;
      let next = 0;
      let isCalling = false;
      const call = (): void => {
        isCalling = false;
        for (let calls = 0; next < imminent && stop[0] === 0; calls++) {
          const due = startAt + (shared[next] ?? 0);
          // Until the next start is due, and after each `MAX_CALLS_PER_TURN` calls, `setImmediate` lets the event loop read
          // responses. Otherwise, all connections would stay in use, and each request would open a new connection.
          if (performance.now() < due || calls === MAX_CALLS_PER_TURN) {
            isCalling = true;
            setImmediate(call);
            return;
          }
          next += 1;
          onDue(due);
        }
        if (next === times.length) ended.resolve();
      };
      thread.onmessage = ({ data }: MessageEvent<number>) => {
        imminent = data;
        if (!isCalling) call();
      };
      const schedule: ArrivalSchedule = { times: shared, startAt: performance.timeOrigin + startAt, stop };
      thread.postMessage(schedule);
      if (times.length === 0) ended.resolve();
      await ended.promise;
    },
    stop(): void {
      Atomics.store(stop, 0, 1);
      Atomics.notify(stop, 0);
      thread.terminate();
      ended.resolve();
    },
  };
}
