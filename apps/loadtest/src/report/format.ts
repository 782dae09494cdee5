/** How figures are written, the same on the terminal and on the page: grouped, and no finer than they were measured. */
import type { Asked, Latency, OperationResult, Run } from "../measure/results.ts";

/** Stands for what was not measured. */
export const NOTHING = "–";

const grouped = (value: number, digits: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const formatCount = (value: number): string => grouped(value, 0);

export const formatRate = (perSecond: number): string => grouped(perSecond, perSecond < 1000 ? 1 : 0);

/** A rate that somebody chose, as they wrote it. */
export const formatAsked = (perSecond: number): string => perSecond.toLocaleString("en-US");

/** Three digits, as many as two runs may agree on; without the unit. */
export function formatMs(milliseconds: number | null): string {
  if (milliseconds === null) return NOTHING;
  if (milliseconds >= 99.95) return grouped(milliseconds, 0);
  return grouped(milliseconds, milliseconds >= 9.995 ? 1 : 2);
}

/** A part of a whole; what is neither none nor all is never rounded to it. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return NOTHING;
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.01) return "< 0.01 %";
  if (part < whole && percent > 99.99) return "> 99.99 %";
  return `${percent.toLocaleString("en-US", { maximumFractionDigits: percent < 1 || percent > 99 ? 2 : 1 })} %`;
}

export const formatSeconds = (seconds: number): string =>
  `${seconds.toLocaleString("en-US", { maximumFractionDigits: 1 })} s`;

/** `200 × 5,341, 503 × 12`, the most frequent first. */
export function formatStatuses(statuses: Readonly<Record<string, number>>): string {
  const parts = sortedStatuses(statuses).map(([status, count]) => `${status} × ${formatCount(count)}`);
  return parts.join(", ") || "no answer";
}

export const sortedStatuses = (statuses: Readonly<Record<string, number>>): readonly [string, number][] =>
  Object.entries(statuses).toSorted(([, a], [, b]) => b - a);

/** `90/s, Poisson arrivals` or `48 clients`. */
export function formatLoad({ load }: Asked): string {
  if (load.kind === "closed") return load.concurrency === 1 ? "1 client" : `${load.concurrency} clients`;
  return `${formatAsked(load.ratePerSecond)}/s, ${load.arrivals === "poisson" ? "Poisson" : "constant"} arrivals`;
}

/** `1,000 users, 5 % unknown, 2 % wrong passwords`. */
export function formatUsers({ users, unknownPercent, wrongPercent }: Asked): string {
  const parts = [`${formatCount(users)} ${users === 1 ? "user" : "users"}`];
  if (unknownPercent > 0) parts.push(`${unknownPercent} % unknown`);
  if (wrongPercent > 0) parts.push(`${wrongPercent} % wrong passwords`);
  return parts.join(", ");
}

/** The operation that a run is about, and what a thousand of it are called. */
export interface Headline {
  readonly noun: string;
  readonly result: OperationResult;
  readonly latency: Latency | null;
}

/** The logins of whatever has logins, else the operation that gave the scenario its name, else everything. */
export function headlineOf({ operations, all }: Run): Headline {
  const { login, register } = operations;
  const result = login ?? register ?? all;
  const noun = result === login ? "logins" : result === register ? "registrations" : "requests";
  return { noun, result, latency: result.latency };
}
