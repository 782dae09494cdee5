/** Timestamps are RFC 3339 text in UTC with milliseconds, as on the wire: `2026-01-02T03:04:05.678Z`. */

export const EPOCH = new Date(0).toISOString();

/** An invalid date is read as the epoch. */
export function toTimestamp(date: Date): string {
  return Number.isNaN(date.getTime()) ? EPOCH : date.toISOString();
}
