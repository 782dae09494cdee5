/** A time limit combined with a signal of the caller, also where `AbortSignal.any` and `AbortSignal.timeout` are missing. */

export interface Deadline {
  /** Aborts when the time is over, or with the caller's signal. */
  readonly signal: AbortSignal;
  /** Whether the time is over. False if the caller's signal aborted first. */
  readonly isOver: boolean;
  /** Ends the timer. */
  clear(): void;
}

/**
 * @param ms the time, in milliseconds
 * @param outer the caller's signal
 */
export function startDeadline(ms: number, outer?: AbortSignal | null): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort(timeoutError());
  }, ms);
  const abort = () => controller.abort(outer && reasonOf(outer));
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

/** The reason of `AbortSignal.timeout`, without `DOMException`, which React Native lacks. */
export const timeoutError = (): Error => named("TimeoutError", "The request timed out");

/** Returns the signal's reason. The signals of React Native have none. */
export const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? named("AbortError", "The request was aborted");

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
