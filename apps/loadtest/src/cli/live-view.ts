/**
 * Displays the progress of a run: lines redrawn in place on a terminal, otherwise a plain line every few seconds. No line is
 * wider than the terminal; `end` restores the terminal, including the cursor.
 */
import type { RunOptions } from "../load/run-options.ts";
import type { Progress } from "../measure/run.ts";
import * as format from "../report/format.ts";

interface LiveViewOptions {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Width of the terminal in characters. @default 80 */
  readonly columns?: number | undefined;
  readonly asked: RunOptions;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const ERASE_BELOW = "\x1b[J";
const up = (lines: number): string => `\x1b[${lines}A\r`;

const PLAIN_INTERVAL_SECONDS = 5;
const BAR_WIDTH = 40;

export function createLiveView({ write, isTerminal, columns = 80, asked }: LiveViewOptions) {
  // A full line wraps on some terminals, and the next redraw would start too low: leave one column free.
  const width = Math.max(1, columns - 1);
  let hasEnded = false;
  let drawn = 0;
  const draw = (progress: Progress): void => {
    const { time, ...figures } = describe(progress, asked);
    const done = Math.round(BAR_WIDTH * Math.min(1, progress.elapsedSeconds / asked.durationSeconds));
    const lines = [
      `${asked.scenario}, ${format.formatLoad(asked)}, ${asked.url}`,
      `${time}  [${"█".repeat(done)}${"·".repeat(BAR_WIDTH - done)}]`,
      ...Object.entries(figures).map(([name, text]) => `${name.padEnd(10)}${text}`),
    ].map((line) => line.slice(0, width));
    write(`${drawn === 0 ? HIDE_CURSOR : up(drawn) + ERASE_BELOW}${lines.join("\n")}\n`);
    drawn = lines.length;
  };
  /** Depends on the time of the run, not on the number of updates. */
  let due = PLAIN_INTERVAL_SECONDS;
  const append = (progress: Progress): void => {
    const { elapsedSeconds } = progress;
    if (elapsedSeconds < due) return;
    due = (Math.floor(elapsedSeconds / PLAIN_INTERVAL_SECONDS) + 1) * PLAIN_INTERVAL_SECONDS;
    write(`${Object.values(describe(progress, asked)).join("; ")}\n`);
  };
  return {
    update(progress: Progress): void {
      if (hasEnded) return;
      if (isTerminal) draw(progress);
      else append(progress);
    },
    /** Removes the view and shows the cursor. Call it however the run ends; further calls do nothing. */
    end(): void {
      if (!hasEnded && drawn > 0) write(up(drawn) + ERASE_BELOW + SHOW_CURSOR);
      hasEnded = true;
    },
  };
}

function describe(progress: Progress, { load, durationSeconds }: RunOptions) {
  const { elapsedSeconds, completedPerSecond: completed, latency, server } = progress;
  const offered = load.kind === "open" ? ` of ${format.formatRate(load.ratePerSecond)}/s offered` : "";
  const percentile = (name: "p50" | "p95" | "p99") => `${name} ${format.formatMs(latency?.[name])}`;
  return {
    time: `${Math.floor(elapsedSeconds)} of ${format.formatSeconds(durationSeconds)}`,
    rate: `${completed === null ? format.NO_VALUE : format.formatRate(completed)}/s completed${offered}`,
    latency: `${percentile("p50")}  ${percentile("p95")}  ${percentile("p99")} ms`,
    statuses: format.formatStatuses(progress),
    ...(server !== null && { server: `${format.formatLanes(server)} (${server.kernel})` }),
  };
}
