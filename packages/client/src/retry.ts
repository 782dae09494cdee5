/**
 * Sends requests with a timeout and retries. After a missing response, 429 or 503, a request is repeated only if it is idempotent
 * or the response has `Retry-After`, which the service sends before it does any work.
 */
import { LatchkeyConnectionError, parseRetryAfter } from "./errors.ts";

export interface RetryOptions {
  /** Retries of one request, 0 or more. 0 disables them. @default 2 */
  readonly retries?: number | undefined;
  /** Total wait of one request in milliseconds; a retry that would exceed it is not made. @default 10000 */
  readonly maxRetryWaitMs?: number | undefined;
  /** Time for the complete response, of each attempt, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
}

/** Neither POST nor PATCH (RFC 9110 §9.2.2, RFC 5789 §2). */
const IDEMPOTENT_METHODS = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** Without `Retry-After`, the first retry waits this long, and each further one twice as long. */
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

/** Returns the error unless the whole response arrives in time. @throws the reason of the request's signal */
async function attempt(send: Send, request: Request, timeoutMs: number): Promise<Outcome> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, timeout]);
  try {
    // A body can be sent only once. Bun's types return the `Request` of undici here, at run time it is the same class.
    const response = await send(new Request(request.clone() as Request, { signal }));
    await response.clone().arrayBuffer();
    return response;
  } catch (cause) {
    if (request.signal.aborted) throw request.signal.reason;
    return new LatchkeyConnectionError(request, timeout.aborted ? timeout.reason : cause);
  }
}

/** The time to wait before a retry; undefined if the request must not be repeated. */
function retryDelayMs(method: string, outcome: Outcome, retry: number): number | undefined {
  if (!(outcome instanceof LatchkeyConnectionError)) {
    const { status, headers } = outcome;
    if (status !== 429 && status !== 503) return undefined;
    const seconds = parseRetryAfter(headers.get("retry-after"));
    if (seconds !== undefined) return seconds * 1000;
  }
  return IDEMPOTENT_METHODS.has(method) ? BACKOFF_MS * 2 ** retry : undefined;
}

/** @throws the reason of the signal, at once when it aborts */
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
