/** Time limits that one stall of the event loop does not exceed, however long it is. */

/** Three, so that work which begins during one stall and whose response arrives during the next is still in time. */
const TICKS = 3;

/**
 * Settles like `work`, or rejects after the time limit; no timer remains. A stall of the event loop, in which no response
 * can be read, counts as one third of the limit at most.
 * @param subject what must respond, for the message
 */
export async function withTimeout<Value>(
  subject: string,
  work: Promise<Value>,
  timeoutMs: number,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  let ticks = 0;
  const tick = () => {
    ticks += 1;
    if (ticks === TICKS) reject(new Error(`${subject} did not respond within ${timeoutMs} ms`));
  };
  const timer = setInterval(tick, timeoutMs / TICKS);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearInterval(timer);
  }
}
