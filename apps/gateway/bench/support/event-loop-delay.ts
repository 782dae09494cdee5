/**
 * Preloaded into the service by `bench hostile`. Between `start` and `stop` it spins with `setImmediate`, so the time
 * from one turn of the event loop to the next is how long a request blocked the loop.
 */
import { openSync, readSync } from "node:fs";
import { platform } from "node:os";
import { isMainThread } from "node:worker_threads";

/** The scheduler's record of this thread: the second number is the time in which other threads had its core, in ns. */
const scheduleFile = platform() === "linux" ? openSync("/proc/thread-self/schedstat", "r") : null;
const buffer = Buffer.alloc(80);

function readWaitedMs(): number {
  if (scheduleFile === null) return 0;
  const length = readSync(scheduleFile, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}

let isRunning = false;
/** The longest time from one turn to the next. */
const hold = { longestMs: 0 };
export type Hold = Readonly<typeof hold>;

function turn(previousMs: number): void {
  if (!isRunning) return;
  const nowMs = performance.now() - readWaitedMs();
  hold.longestMs = Math.max(hold.longestMs, nowMs - previousMs);
  setImmediate(turn, nowMs);
}

function handle({ url }: Request): Response {
  isRunning = url.endsWith("/start");
  if (isRunning) {
    hold.longestMs = 0;
    setImmediate(turn, performance.now() - readWaitedMs());
  }
  return Response.json(hold);
}

const { EVENT_LOOP_DELAY: unix } = process.env;
if (isMainThread && unix !== undefined) Bun.serve({ unix, fetch: handle });
