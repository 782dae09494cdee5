/**
 * Retries 429 and 503. A request is repeated only if it is idempotent or the response has `Retry-After`, which the service
 * sends before it does any work.
 */
import { parseRetryAfter } from "./errors.ts";

export interface RetryOptions {
  /** Retries of one request, 0 or more. 0 disables them. @default 2 */
  readonly retries?: number | undefined;
  /** Total wait of one request in milliseconds; a retry that would exceed it is not made. @default 10000 */
  readonly maxRetryWaitMs?: number | undefined;
}

/** Neither POST nor PATCH (RFC 9110 §9.2.2, RFC 5789 §2). */
const IDEMPOTENT_METHODS = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** Without `Retry-After`, the first retry waits this long, and each further one twice as long. */
const BACKOFF_MS = 500;

type Send = (request: Request) => Promise<Response>;

export function withRetries(send: Send, { retries = 2, maxRetryWaitMs = 10_000 }: RetryOptions): Send {
  return async (request) => {
    let remainingMs = maxRetryWaitMs;
    for (let retry = 0; retry < retries; retry++) {
      const response = await send(copyOf(request));
      const delayMs = retryDelayMs(request.method, response, retry);
      if (delayMs === undefined || delayMs > remainingMs) return response;
      remainingMs -= delayMs;
      await response.body?.cancel();
      await delay(delayMs, request.signal);
    }
    return send(request);
  };
}

/** A body can be sent only once. Bun's types return the `Request` of undici here, at run time it is the same class. */
const copyOf = (request: Request): Request => request.clone() as Request;

/** The time to wait before a retry; undefined if the request must not be repeated. */
function retryDelayMs(method: string, { status, headers }: Response, retry: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = parseRetryAfter(headers.get("retry-after"));
  if (seconds !== undefined) return seconds * 1000;
  return IDEMPOTENT_METHODS.has(method) ? BACKOFF_MS * 2 ** retry : undefined;
}

/** @throws the reason of the signal, at once when it aborts */
function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
