/** RFC 3339 in UTC with milliseconds, as in the JSON of the API: `2026-01-02T03:04:05.678Z`. */
export type Timestamp = string;

export const EPOCH: Timestamp = new Date(0).toISOString();

/** Converts an invalid date to the epoch. */
export function toTimestamp(date: Date): Timestamp {
  return Number.isNaN(date.getTime()) ? EPOCH : date.toISOString();
}
