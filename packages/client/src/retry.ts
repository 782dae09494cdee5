/**
 * Repeats failed requests. After a missing response, 429 or 503, a request is repeated only if the method is idempotent or the
 * response has `Retry-After`. The service sends `Retry-After` only if it has not executed the request.
 */
import { untilAborted } from "./deadline.ts";
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";

export interface Retry {
  readonly method: string;
  readonly path: string;
  /** 1 for the first retry of a request. */
  readonly retry: number;
  /** The wait before this retry, in milliseconds. */
  readonly delayMs: number;
  /** Why the last attempt failed. */
  readonly error: LatchkeyError | LatchkeyConnectionError;
}

export interface RetryOptions {
  /** Maximum number of retries per request. 0 disables retries. @default 2 */
  readonly retries?: number | undefined;
  /** Maximum total wait before the retries of one request, in milliseconds. A retry beyond this limit is not sent. @default 10000 */
  readonly maxRetryWaitMs?: number | undefined;
  /** Timeout of each attempt, until the response is complete, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /** Called before the wait of each retry, for example for a log. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** POST and PATCH are not idempotent (RFC 9110 §9.2.2, RFC 5789 §2). */
const IDEMPOTENT_METHODS = new Set(["GET", "DELETE"]);
/** The wait before the first retry if the response has no `Retry-After`. The wait doubles before each further retry. */
const BACKOFF_MS = 500;

/** @returns the result of the attempt; undefined if a repeated DELETE finds that an earlier attempt was executed */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { method, path, signal }: { method: string; path: string; signal?: AbortSignal | null | undefined },
  { retries = 2, maxRetryWaitMs = 10_000, onRetry }: RetryOptions,
): Promise<Result | undefined> {
  let remainingMs = maxRetryWaitMs;
  let mayBeExecuted = false;
  for (let retry = 1; ; retry++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LatchkeyError || error instanceof LatchkeyConnectionError)) throw error;
      if (mayBeExecuted && showsExecution(path, error)) return undefined;
      const delayMs = retryDelayMs(method, error, retry);
      if (retry > retries || delayMs === undefined || delayMs > remainingMs) throw error;
      if (method === "DELETE") mayBeExecuted ||= mayHaveBeenExecuted(error);
      remainingMs -= delayMs;
      onRetry?.({ method, path, retry, delayMs, error });
      await delay(delayMs, signal);
    }
  }
}

type RequestError = LatchkeyError | LatchkeyConnectionError;

const mayHaveBeenExecuted = (error: RequestError): boolean =>
  error instanceof LatchkeyConnectionError ? error.mayHaveBeenExecuted : error.status === 503;

/** Whether the response to a repeated DELETE shows that an earlier attempt was executed. */
const showsExecution = (path: string, error: RequestError): boolean =>
  error instanceof LatchkeyError &&
  (error.status === 404 || (path === "/auth/tokens" && error.code === "INVALID_TOKEN"));

/** Returns the time to wait before a retry; undefined if the request must not be repeated. */
function retryDelayMs(method: string, error: RequestError, retry: number): number | undefined {
  if (error instanceof LatchkeyError) {
    if (error.status !== 429 && error.status !== 503) return undefined;
    if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1000;
  }
  return IDEMPOTENT_METHODS.has(method) ? BACKOFF_MS * 2 ** (retry - 1) : undefined;
}

/** @throws the reason of the signal as soon as the signal aborts */
async function delay(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await untilAborted(over, signal).finally(() => clearTimeout(timer));
}
