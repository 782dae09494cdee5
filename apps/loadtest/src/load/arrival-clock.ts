/** Calls back at each intended start, a few hundredths of a millisecond late at most while the tester has time to spare. */
import type { ArrivalPlan } from "./arrival-thread.ts";

export interface ArrivalClock {
  /**
   * Begins, and resolves when every start has been called or the clock was stopped.
   * @param startAt on the clock of `performance.now()`
   * @param onDue is given the intended start on that clock
   */
  run(startAt: number, onDue: (due: number) => void): Promise<void>;
  stop(): void;
}

const MOST_IN_A_TURN = 16;

/** @param times ms from the start, ascending */
export async function openArrivalClock(times: readonly number[]): Promise<ArrivalClock> {
  const thread = new Worker(new URL("./arrival-thread.ts", import.meta.url));
  await new Promise((resolve) => thread.addEventListener("open", resolve, { once: true }));
  const shared = new Float64Array(new SharedArrayBuffer(times.length * Float64Array.BYTES_PER_ELEMENT));
  shared.set(times);
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const ended = Promise.withResolvers<void>();

  return {
    async run(startAt, onDue) {
      let near = 0;
      let next = 0;
      let isCalling = false;
      const call = (): void => {
        isCalling = false;
        for (let called = 0; next < near && stop[0] === 0; called++) {
          const due = startAt + (shared[next] ?? 0);
          // Told shortly before it is due: the rest is waited here, turn by turn of the event loop. Late ones leave it turns
          // too, since answers that are not read would cost a new connection for each of them.
          if (performance.now() < due || called === MOST_IN_A_TURN) {
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
        near = data;
        if (!isCalling) call();
      };
      const plan: ArrivalPlan = { times: shared, startAt: performance.timeOrigin + startAt, stop };
      thread.postMessage(plan);
      if (times.length === 0) ended.resolve();
      await ended.promise;
    },
    stop() {
      Atomics.store(stop, 0, 1);
      Atomics.notify(stop, 0);
      thread.terminate();
      ended.resolve();
    },
  };
}
