const TICKS = 10;

/**
 * Settles like `work`, or rejects after the time limit; no timer remains. A stall of the event loop, in which no response
 * can be read, counts as one tenth of the limit at most.
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
