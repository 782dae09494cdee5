/**
 * Writes log lines to a pipe or file without ever waiting: a timer retries while the pipe is full, so the event loop handles
 * requests and signals even if nobody reads the log. Invariant: each line is written completely or not at all.
 */
import { writeSync } from "node:fs";

interface LogOutputOptions {
  /** Returns a line that states the number of lines that were dropped before it. */
  readonly describeDropped: (count: number) => string;
  /** A descriptor with O_NONBLOCK. @default standard output */
  readonly descriptor?: number;
}

/** How long lines wait for the reader of a full pipe. After this time, lines are dropped until the pipe accepts bytes. */
const MAX_WAIT_MS = 1000;
/** Limits the memory of the lines that wait. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;
const RETRY_MS = 5;

/** Bun sets O_NONBLOCK on a pipe or socket when `process.stdout` is first read. Otherwise, a write would block the process. */
const nonblockingStdout = (): number => {
  void process.stdout;
  return 1;
};

export function openLogOutput({ describeDropped, descriptor = nonblockingStdout() }: LogOutputOptions) {
  /** Complete lines that are not being written yet. */
  let waiting = "";
  /** The lines that are being written. They are never dropped, because a part of them can be written already. */
  let unwritten: Buffer = Buffer.alloc(0);
  /** Whether the latest attempt found a full pipe, rather than a closed pipe or a full disk. */
  let isPipeFull = false;
  /** When the waiting lines are dropped, in milliseconds of `performance.now()`. */
  let deadline = 0;
  let isDropping = false;
  let unreported = 0;
  let dropped = 0;
  let timer: Timer | undefined;
  let isScheduled = false;

  /** Writes a part of the bytes and returns the rest, or null if nothing can be written at the moment. */
  const writePart = (bytes: Buffer): Buffer | null => {
    try {
      return bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      isPipeFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
      return null;
    }
  };

  /** Returns whether everything is written. */
  const writeAll = (): boolean => {
    while (unwritten.length > 0 || unreported > 0 || waiting !== "") {
      const isReport = unwritten.length === 0 && unreported > 0;
      if (unwritten.length === 0 && !isReport) {
        unwritten = Buffer.from(waiting);
        waiting = "";
      }
      const rest = writePart(isReport ? Buffer.from(describeDropped(unreported)) : unwritten);
      if (!rest) return false;
      unwritten = rest;
      if (!isReport) continue;
      // The report is at least begun, so the pipe accepts bytes again.
      unreported = 0;
      isDropping = false;
      deadline = performance.now() + MAX_WAIT_MS;
    }
    isDropping = false;
    return true;
  };

  const drop = (lines: string): void => {
    const count = lines.split("\n").length - 1;
    unreported += count;
    dropped += count;
  };

  const startDropping = (): void => {
    drop(waiting);
    waiting = "";
    isDropping = true;
    retryLater();
  };

  const retryLater = (): void => {
    timer ??= setTimeout(retry, RETRY_MS).unref();
  };

  const retry = (): void => {
    timer = undefined;
    if (writeAll()) return;
    if (!isDropping && performance.now() >= deadline) startDropping();
    retryLater();
  };

  const flush = (): void => {
    isScheduled = false;
    if (timer || writeAll()) return;
    deadline = performance.now() + MAX_WAIT_MS;
    retryLater();
  };

  /** Before an exit, lines wait as long as at any other time. */
  const flushAtExit = (): void => {
    if (!timer) deadline = performance.now() + MAX_WAIT_MS;
    while (!writeAll() && isPipeFull && !isDropping && performance.now() < deadline)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
  };
  process.on("exit", flushAtExit);

  return {
    /**
     * Writes a line. Never throws. Lines of one turn of the event loop are written together: one system call per line would cost
     * 4 % of the requests/s, and raise the p99 of a page of todos by 10 %.
     */
    write(line: string): void {
      if (isDropping) drop(line);
      else waiting += line;
      if (waiting.length > MAX_WAITING_CHARACTERS) startDropping();
      if (isScheduled || timer) return;
      isScheduled = true;
      setImmediate(flush);
    },
    /** The number of lines that were dropped since the start. */
    droppedLines: (): number => dropped,
  };
}
