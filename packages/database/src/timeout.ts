/** Time limits that one stall of the event loop does not exceed, however long it is. */

/** Three: work that begins during one stall, and whose response arrives during the next, is still in time. */
const TICKS = 3;

/**
 * Settles like `work`, or rejects after the time limit; a later result is discarded, and no timer remains. A stall of the event
 * loop, in which no response can be read, counts as one third of the limit at most.
 */
export async function withTimeout<Value>(
  work: Promise<Value>,
  timeoutMs: number,
  createError: () => Error,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  let ticks = 0;
  const tick = () => {
    ticks += 1;
    if (ticks === TICKS) reject(createError());
  };
  const timer = setInterval(tick, timeoutMs / TICKS);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearInterval(timer);
  }
}
