/** Displays the progress of a run: on a terminal, one line every second; otherwise, a new line every few seconds. */
import type { RunOptions } from "../load/scenarios.ts";
import type { Progress } from "../measure/run.ts";
import * as format from "../report/format.ts";

type Terminal = Partial<Pick<NodeJS.WriteStream, "isTTY" | "columns">>;

const ERASE_LINE = "\r\x1b[K";
const PLAIN_INTERVAL_SECONDS = 5;

export function createProgressLine(asked: RunOptions, write: (text: string) => void, terminal: Terminal) {
  const isTerminal = terminal.isTTY ?? false;
  // A terminal reports 0 columns if the width is unknown.
  const columns = terminal.columns || 80;
  /** The elapsed seconds at which the next line is due, regardless of the number of updates. */
  let due = PLAIN_INTERVAL_SECONDS;
  return {
    update(progress: Progress): void {
      const line = describe(progress, asked);
      const { elapsedSeconds } = progress;
      // Some terminals wrap a line that fills all columns, so one column stays free.
      if (isTerminal) write(ERASE_LINE + line.slice(0, Math.max(1, columns - 1)));
      else if (elapsedSeconds >= due) {
        due = (Math.floor(elapsedSeconds / PLAIN_INTERVAL_SECONDS) + 1) * PLAIN_INTERVAL_SECONDS;
        write(`${line}\n`);
      }
    },
    /** Removes the line from the terminal. */
    end: (): void => write(isTerminal ? ERASE_LINE : ""),
  };
}

function describe(progress: Progress, { load, durationSeconds }: RunOptions): string {
  const { elapsedSeconds, completedPerSecond: completed, latency, server } = progress;
  const offered = load.kind === "open" ? ` of ${format.formatRate(load.ratePerSecond)}/s` : "";
  return [
    `${Math.floor(elapsedSeconds)} of ${format.formatSeconds(durationSeconds)}`,
    `${completed === null ? format.NO_VALUE : format.formatRate(completed)}${offered || "/s"}`,
    `p50 ${format.formatMs(latency?.p50)}  p99 ${format.formatMs(latency?.p99)} ms`,
    format.formatStatuses(progress),
    ...(server === null ? [] : [format.formatLanes(server)]),
  ].join("; ");
}
