/** Formats figures, equally on the terminal and on the page: grouped, and with no more digits than were measured. */
import type { Step } from "../capacity/find-capacity.ts";
import type { RunOptions } from "../load/run-options.ts";
import type { OperationResult, ServerFigures } from "../measure/results.ts";

/** For a missing measurement. */
export const NO_VALUE = "–";

export const formatDecimals = (value: number, digits: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const formatCount = (value: number): string => formatDecimals(value, 0);

export const formatRate = (perSecond: number): string => formatDecimals(perSecond, perSecond < 1000 ? 1 : 0);

/** A rate as it was specified. */
export const formatOffered = (perSecond: number): string => perSecond.toLocaleString("en-US");

/** Three digits, the reproducible ones; without the unit. */
export function formatMs(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return NO_VALUE;
  if (milliseconds >= 99.95) return formatCount(milliseconds);
  return formatDecimals(milliseconds, milliseconds >= 9.995 ? 1 : 2);
}

/** One rate of a capacity search: offered and achieved, p50 and p99, rejected, errors and attempts. */
export const formatStep = (step: Step): readonly string[] => [
  formatOffered(step.ratePerSecond),
  formatRate(step.achievedPerSecond),
  ...[step.p50, step.p99].map(formatMs),
  ...[step.shed, step.errors, step.attempts].map(formatCount),
];

/** A proportion; only 0 and 1 are printed as `0 %` and `100 %`. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return NO_VALUE;
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.01) return "< 0.01 %";
  if (part < whole && percent > 99.99) return "> 99.99 %";
  return `${percent.toLocaleString("en-US", { maximumFractionDigits: percent < 1 || percent > 99 ? 2 : 1 })} %`;
}

export const formatSeconds = (seconds: number): string =>
  `${seconds.toLocaleString("en-US", { maximumFractionDigits: 1 })} s`;

type Statuses = Pick<OperationResult, "statuses" | "connectionErrors">;

/** `200 × 5,341, refused × 12`, in descending order of frequency. */
export function formatStatuses(result: Statuses): string {
  const parts = sortedStatuses(result).map(([status, count]) => `${status} × ${formatCount(count)}`);
  return parts.join(", ") || "no response";
}

/** The names of connection errors instead of `none`. */
export function sortedStatuses({ statuses, connectionErrors }: Statuses): readonly [string, number][] {
  const { none: _none, ...received } = statuses;
  return Object.entries({ ...received, ...connectionErrors }).toSorted(([, a], [, b]) => b - a);
}

export const formatLanes = ({ lanes, lanesBusy, queueLength }: ServerFigures): string =>
  `${lanesBusy} of ${lanes} lanes busy, ${formatCount(queueLength)} queued`;

/** `90/s, Poisson arrivals` or `48 clients`. */
export function formatLoad({ load }: RunOptions): string {
  if (load.kind === "closed") return load.concurrency === 1 ? "1 client" : `${load.concurrency} clients`;
  return `${formatOffered(load.ratePerSecond)}/s, ${load.arrivals === "poisson" ? "Poisson" : "constant"} arrivals`;
}

/** `1,000 users, 5 % unknown, 2 % wrong passwords`. */
export function formatUsers({ users, unknownPercent, wrongPercent }: RunOptions): string {
  const parts = [`${formatCount(users)} ${users === 1 ? "user" : "users"}`];
  if (unknownPercent > 0) parts.push(`${unknownPercent} % unknown`);
  if (wrongPercent > 0) parts.push(`${wrongPercent} % wrong passwords`);
  return parts.join(", ");
}

/** Aligns the first column left and the others right. @param minWidth of the other columns */
export function alignTable(rows: readonly (readonly string[])[], minWidth = 8): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(column === 0 ? 0 : minWidth, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

/** Of a terminal. */
const WIDTH = 80;

/** Wraps at spaces; a longer word is not divided, and neither are `200 × 12` and `5 %`. */
export const wrap = (text: string, indent = 0): string =>
  fillLines(text.split(/(?<!×) (?![×%])/), WIDTH - indent).join(`\n${" ".repeat(indent)}`);

/**
 * Wraps a command between its options, to be pasted into a shell: with up to four columns of indentation before each line,
 * and two for the backslash after it.
 */
export const wrapCommand = (command: string): string =>
  `  ${fillLines(command.split(/ (?=--)/), WIDTH - 6).join(" \\\n    ")}`;

function fillLines(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + part.length > width) lines.push(part);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines;
}
