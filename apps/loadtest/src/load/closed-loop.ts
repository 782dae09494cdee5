/** Closed loop: each client asks again as soon as it is answered, so that never more than so many requests are under way. */

import type { Exchange } from "../measure/recorder.ts";
import type { LoopOptions } from "./open-loop.ts";

export interface ClosedLoopOptions extends LoopOptions {
  readonly concurrency: number;
}

/** A refusal costs the service nothing; without a pause it would cost this process everything. */
const PAUSE_AFTER_REFUSAL_MS = 100;

/** Ends with the window: requests without an answer by then are given up, as those under way at its beginning are counted. */
export async function driveClosedLoop(options: ClosedLoopOptions): Promise<void> {
  const { client, recorder, next, window, signal, concurrency } = options;
  const ended = Promise.withResolvers<void>();
  let isOver = signal.aborted;
  const end = (): void => {
    isOver = true;
    ended.resolve();
  };
  signal.addEventListener("abort", end);
  const timer = setTimeout(end, window.to - performance.now());

  const runClient = async (): Promise<void> => {
    while (!isOver) {
      const one: Exchange = { request: next(), due: performance.now() };
      recorder.sent(one);
      const answer = await client.send(one.request);
      recorder.answered(one, answer);
      if (answer.status !== String(one.request.expected)) await Bun.sleep(PAUSE_AFTER_REFUSAL_MS);
    }
  };
  for (let client = 0; client < concurrency; client++) void runClient();
  if (!isOver) await ended.promise;
  clearTimeout(timer);
}
