/** Formats figures in the same way for the terminal and the page: with thousands separators and without insignificant digits. */
import type { RunOptions } from "../load/scenarios.ts";
import type { OperationResult } from "../measure/recorder.ts";
import type { ServerFigures } from "../measure/server-metrics.ts";

/** Replaces the value of a missing measurement. */
export const NO_VALUE = "–";

export const formatDecimals = (value: number, digits: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const formatCount = (value: number): string => formatDecimals(value, 0);

export const formatRate = (perSecond: number): string => formatDecimals(perSecond, perSecond < 1000 ? 1 : 0);

/** Formats a specified (not measured) rate with up to three decimals. */
export const formatOffered = (perSecond: number): string => perSecond.toLocaleString("en-US");

/** Formats about three significant digits, because further digits are not reproducible. Omits the unit. */
export function formatMs(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return NO_VALUE;
  if (milliseconds >= 99.95) return formatCount(milliseconds);
  return formatDecimals(milliseconds, milliseconds >= 9.995 ? 1 : 2);
}

export const formatSeconds = (seconds: number): string =>
  `${seconds.toLocaleString("en-US", { maximumFractionDigits: 1 })} s`;

/** Returns a text such as `200 × 5,341, refused × 12`, the most frequent first. Connection errors replace the status `none`. */
export function formatStatuses({
  statuses: { none: _none, ...statuses },
  connectionErrors,
}: Pick<OperationResult, "statuses" | "connectionErrors">): string {
  const sorted = Object.entries({ ...statuses, ...connectionErrors }).toSorted(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} × ${formatCount(count)}`).join(", ") || "no response";
}

export const formatLanes = ({ lanes, lanesBusy, queueLength }: ServerFigures): string =>
  `${lanesBusy} of ${lanes} lanes busy, ${formatCount(queueLength)} queued`;

/** Returns a text such as `90/s, Poisson arrivals` or `48 clients`. */
export function formatLoad({ load }: RunOptions): string {
  if (load.kind === "closed") return load.concurrency === 1 ? "1 client" : `${load.concurrency} clients`;
  return `${formatOffered(load.ratePerSecond)}/s, ${load.arrivals === "poisson" ? "Poisson" : "constant"} arrivals`;
}

/** Returns a text such as `1,000 users, 5 % unknown, 2 % wrong passwords`. */
export function formatUsers({ users, unknownPercent, wrongPercent }: RunOptions): string {
  const parts = [`${formatCount(users)} ${users === 1 ? "user" : "users"}`];
  if (unknownPercent > 0) parts.push(`${unknownPercent} % unknown`);
  if (wrongPercent > 0) parts.push(`${wrongPercent} % wrong passwords`);
  return parts.join(", ");
}
