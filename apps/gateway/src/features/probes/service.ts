/** Checks whether this process can handle requests. Concurrent checks share one query. */
import { withTimeout } from "@latchkey/database";

export interface Readiness {
  /** Never rejects. */
  check(): Promise<ReadinessResult>;
}

/** During a shutdown, `error` is undefined, because a shutdown is not an error. */
type ReadinessResult = { readonly isReady: true } | { readonly isReady: false; readonly error?: unknown };

const READY: ReadinessResult = { isReady: true };
const STOPPING: ReadinessResult = { isReady: false };
const TIMEOUT_MS = 1000;
const createTimeoutError = () => new Error(`The database did not respond within ${TIMEOUT_MS} ms`);

/** @param ping runs a trivial query */
export function createReadiness(ping: () => Promise<void>, isStopping: () => boolean): Readiness {
  let inFlight: Promise<ReadinessResult> | null = null;

  const query = (): Promise<ReadinessResult> =>
    withTimeout(ping(), TIMEOUT_MS, createTimeoutError).then(
      () => READY,
      (error: unknown) => ({ isReady: false, error }),
    );

  return {
    async check() {
      inFlight ??= query().finally(() => {
        inFlight = null;
      });
      const result = await inFlight;
      return isStopping() ? STOPPING : result;
    },
  };
}
