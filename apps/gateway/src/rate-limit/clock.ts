/** The clock of limits. It is never set back, so a correction of the system's clock does not prolong a limit. */

/** Milliseconds since the epoch according to the clock of the system at the start of the process. */
export const monotonicNow = (): number => performance.timeOrigin + performance.now();

/** Returns the whole seconds until `time`, a time of `monotonicNow`; 0 if it is over. */
export const secondsUntil = (time: number): number => Math.max(0, Math.ceil((time - monotonicNow()) / 1000));
