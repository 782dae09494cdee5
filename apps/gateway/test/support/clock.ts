/** The clock that tests compare timestamps by. */

/** Returns once a millisecond that the database has already handed out is past, two milliseconds later at most. */
export function clockPast(timestamp: string): void {
  while (Date.now() <= Date.parse(timestamp) + 1);
}
