/** Time limits of work that cannot be cancelled. */

/** Settles like `work`, or rejects after the time limit; no timer remains. @param subject for the message: what must respond */
export async function withTimeout<Value>(
  subject: string,
  work: Promise<Value>,
  timeoutMs: number,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`${subject} did not respond within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
