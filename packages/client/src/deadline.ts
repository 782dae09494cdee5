/** A time limit combined with a signal of the caller, also where `AbortSignal.any` and `AbortSignal.timeout` are missing. */

/** @param outer the caller's signal */
export function startDeadline(ms: number, outer?: AbortSignal | null) {
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
    /** Aborts when the time is over, or with the caller's signal. */
    signal: controller.signal,
    /** Whether the time is over. False if the caller's signal aborted first. */
    get isOver() {
      return isOver;
    },
    /** Ends the timer. */
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

/** @throws the reason of the signal as soon as the signal aborts */
export async function untilAborted<Result>(
  promise: Promise<Result>,
  signal?: AbortSignal | null,
): Promise<Result> {
  if (!signal) return await promise;
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(reasonOf(signal));
  });
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

/** The reason of `AbortSignal.timeout`, without `DOMException`, which React Native lacks. */
export const timeoutError = (): Error => named("TimeoutError", "The request timed out");

/** Returns the signal's reason. The signals of React Native have none. */
export const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? named("AbortError", "The request was aborted");

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
