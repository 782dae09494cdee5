/**
 * Sends requests with a timeout and retries. After a missing response, 429 or 503, a request is repeated only if the method is
 * idempotent or the response has `Retry-After`. The service sends `Retry-After` only if it has not executed the request.
 */
import { LatchkeyConnectionError, parseRetryAfter } from "./errors.ts";

export interface RetryOptions {
  /** Maximum number of retries per request. 0 disables retries. @default 2 */
  readonly retries?: number | undefined;
  /** Maximum total wait before the retries of one request, in milliseconds. A retry beyond this limit is not sent. @default 10000 */
  readonly maxRetryWaitMs?: number | undefined;
  /** Timeout of each attempt, until the response is complete, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
}

/** POST and PATCH are not idempotent (RFC 9110 §9.2.2, RFC 5789 §2). */
const IDEMPOTENT_METHODS = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** The wait before the first retry if the response has no `Retry-After`. The wait doubles before each further retry. */
const BACKOFF_MS = 500;

type Send = (request: Request) => Promise<Response>;

export function withRetries(
  send: Send,
  { retries = 2, maxRetryWaitMs = 10_000, timeoutMs = 10_000 }: RetryOptions,
): Send {
  return async (request) => {
    let remainingMs = maxRetryWaitMs;
    let mayBeDeleted = false;
    for (let retry = 0; ; retry++) {
      const outcome = await attempt(send, request, timeoutMs);
      const isMissing = outcome instanceof LatchkeyConnectionError;
      if (mayBeDeleted && !isMissing && outcome.status === 404) return new Response(null, { status: 204 });
      const delayMs = retryDelayMs(request.method, outcome, retry);
      if (retry >= retries || delayMs === undefined || delayMs > remainingMs) {
        if (isMissing) throw outcome;
        return outcome;
      }
      if (request.method === "DELETE") mayBeDeleted ||= isMissing || outcome.status === 503;
      remainingMs -= delayMs;
      await delay(delayMs, request.signal);
    }
  };
}

type Outcome = Response | LatchkeyConnectionError;

/** Returns the response, or an error if the response is not complete in time. @throws the reason of the request's signal */
async function attempt(send: Send, request: Request, timeoutMs: number): Promise<Outcome> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    // Cloned, because a body can be sent only once. The cast is safe: `clone` returns a global `Request`, although Bun's types
    // declare undici's `Request`.
    const response = await send(new Request(request.clone() as Request, { signal }));
    await response.clone().arrayBuffer();
    return response;
  } catch (cause) {
    if (request.signal.aborted) throw request.signal.reason;
    return new LatchkeyConnectionError(request, timeout.aborted ? timeout.reason : cause);
  }
}

/** Returns the time to wait before a retry; undefined if the request must not be repeated. */
function retryDelayMs(method: string, outcome: Outcome, retry: number): number | undefined {
  if (!(outcome instanceof LatchkeyConnectionError)) {
    const { status, headers } = outcome;
    if (status !== 429 && status !== 503) return undefined;
    const seconds = parseRetryAfter(headers.get("retry-after"));
    if (seconds !== undefined) return seconds * 1000;
  }
  return IDEMPOTENT_METHODS.has(method) ? BACKOFF_MS * 2 ** retry : undefined;
}

/** @throws the reason of the signal as soon as the signal aborts */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<unknown>((resolve) => {
    timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", resolve);
  });
  clearTimeout(timer);
  signal.throwIfAborted();
}
