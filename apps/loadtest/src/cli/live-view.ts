/**
 * What a person sees while a run goes: a few lines redrawn in place on a terminal, a plain line now and then elsewhere.
 * Nothing is ever wider than the terminal, and `end` leaves it as it was found, cursor included.
 */

import type { Asked, ServerFigures } from "../measure/results.ts";
import * as format from "../report/format.ts";

/** Null where it is not known, or not yet. */
export interface Progress {
  readonly elapsedSeconds: number;
  readonly durationSeconds: number;
  /** Null in a closed loop, which asks for no rate. */
  readonly offeredPerSecond: number | null;
  readonly answeredPerSecond: number | null;
  /** Milliseconds. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly statuses: Readonly<Record<string, number>>;
  readonly server: ServerFigures | null;
}

export interface LiveViewOptions {
  readonly stream: { write(text: string): unknown };
  readonly isTerminal: boolean;
  /** Width of the terminal in characters. @default 80 where it is not known */
  readonly columns?: number | undefined;
  readonly asked: Asked;
}

export interface LiveView {
  update(progress: Progress): void;
  /** Takes the view away and gives the cursor back. To be called however the run ends; again does nothing. */
  end(): void;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const ERASE_BELOW = "\x1b[J";
const up = (lines: number): string => `\x1b[${lines}A\r`;

const PLAIN_LINE_EVERY_SECONDS = 5;

export function createLiveView({ stream, isTerminal, columns = 80, asked }: LiveViewOptions): LiveView {
  return isTerminal ? terminalView(stream, columns, asked) : plainView(stream);
}

function terminalView(stream: LiveViewOptions["stream"], columns: number, asked: Asked): LiveView {
  let drawn = 0;
  let hasEnded = false;
  return {
    update(progress) {
      if (hasEnded) return;
      // One column stays free: a full line makes some terminals wrap, and then the next redraw starts too low.
      const lines = linesOf(progress, asked, columns - 1).map((line) =>
        line.slice(0, Math.max(1, columns - 1)),
      );
      const start = drawn === 0 ? HIDE_CURSOR : up(drawn) + ERASE_BELOW;
      stream.write(`${start}${lines.join("\n")}\n`);
      drawn = lines.length;
    },
    end() {
      if (hasEnded) return;
      hasEnded = true;
      if (drawn > 0) stream.write(up(drawn) + ERASE_BELOW + SHOW_CURSOR);
    },
  };
}

function linesOf(progress: Progress, asked: Asked, width: number): readonly string[] {
  const { elapsedSeconds, durationSeconds, statuses, server } = progress;
  const time = `${Math.floor(elapsedSeconds)} of ${format.formatSeconds(durationSeconds)}`;
  const lines = [
    `${asked.scenario}, ${format.formatLoad(asked)}, ${asked.url}`,
    `${bar(elapsedSeconds / durationSeconds, Math.min(40, width - time.length - 4))}  ${time}`,
    `rate      ${describeRate(progress)}`,
    `latency   ${describeLatency(progress)}`,
    `statuses  ${format.formatStatuses(statuses)}`,
  ];
  if (server) lines.push(`server    ${describeServer(server)}`);
  return lines;
}

function bar(share: number, width: number): string {
  if (width < 4) return "";
  const done = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `[${"█".repeat(done)}${"·".repeat(width - done)}]`;
}

const describeServer = ({ kernel, lanes, lanesBusy, queueLength }: ServerFigures): string =>
  `${lanesBusy} of ${lanes} lanes busy, ${format.formatCount(queueLength)} waiting (${kernel})`;

function describeRate({ offeredPerSecond, answeredPerSecond }: Progress): string {
  const answered = answeredPerSecond === null ? format.NOTHING : format.formatRate(answeredPerSecond);
  return offeredPerSecond === null
    ? `${answered}/s answered`
    : `${answered}/s answered of ${format.formatRate(offeredPerSecond)}/s asked`;
}

function describeLatency({ p50, p95, p99 }: Progress): string {
  return `p50 ${format.formatMs(p50)}  p95 ${format.formatMs(p95)}  p99 ${format.formatMs(p99)} ms`;
}

/** Paced by the run's own time, so that a log of it reads the same however often it is updated. */
function plainView(stream: LiveViewOptions["stream"]): LiveView {
  let due = PLAIN_LINE_EVERY_SECONDS;
  let hasEnded = false;
  return {
    update(progress) {
      const { elapsedSeconds, durationSeconds, statuses, server } = progress;
      if (hasEnded || elapsedSeconds < due) return;
      due = (Math.floor(elapsedSeconds / PLAIN_LINE_EVERY_SECONDS) + 1) * PLAIN_LINE_EVERY_SECONDS;
      const parts = [
        `${Math.floor(elapsedSeconds)} of ${format.formatSeconds(durationSeconds)}`,
        describeRate(progress),
        describeLatency(progress),
        format.formatStatuses(statuses),
      ];
      if (server) parts.push(describeServer(server));
      stream.write(`${parts.join("; ")}\n`);
    },
    end() {
      hasEnded = true;
    },
  };
}
