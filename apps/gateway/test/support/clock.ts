/** Waits for a later timestamp, at most two milliseconds: the next one differs. */
export function clockPast(timestamp: string): void {
  while (Date.now() <= Date.parse(timestamp) + 1);
}

/** A clock that changes only through `advance`. */
export function createClock() {
  let time = 1_800_000_000_000;
  return {
    now: () => time,
    advance: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}
