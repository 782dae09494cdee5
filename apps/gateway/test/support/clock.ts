/** Waits for a later timestamp, at most two milliseconds, so that the next one differs. */
export function clockPast(timestamp: string): void {
  while (Date.now() <= Date.parse(timestamp) + 1);
}
