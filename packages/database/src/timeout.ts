/** A time limit. A single stall of the event loop, however long, does not make the time limit expire. */

/** With three ticks, work still succeeds if it begins during one stall and the response arrives during the next stall. */
const TICKS = 3;

/**
 * Settles like `work`, or rejects after the time limit and discards a later result. No timer remains. No response can be read
 * during a stall of the event loop, so a stall counts as at most one third of the time limit.
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
