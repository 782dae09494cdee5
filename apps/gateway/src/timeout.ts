/**
 * Settles like `work`, or rejects after the time limit; no timer remains.
 * @param subject what must respond, for the message
 */
export async function withTimeout<Value>(
  subject: string,
  work: Promise<Value>,
  timeoutMs: number,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const expire = () => reject(new Error(`${subject} did not respond within ${timeoutMs} ms`));
  const timer = setTimeout(expire, timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
