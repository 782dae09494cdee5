/** Whether this process can handle requests. Concurrent checks share one query. */

interface ReadinessOptions {
  /** A trivial query. */
  readonly ping: () => Promise<void>;
  /** Whether the process is shutting down. */
  readonly isStopping: () => boolean;
  /** Time limit for the query. @default 1000 */
  readonly timeoutMs?: number;
}

export interface Readiness {
  /** Never rejects. */
  check(): Promise<ReadinessResult>;
}

/** A shutdown is not an error: `error` is then undefined. */
type ReadinessResult = { readonly isReady: true } | { readonly isReady: false; readonly error?: unknown };

const READY: ReadinessResult = { isReady: true };
const STOPPING: ReadinessResult = { isReady: false };

export function createReadiness({ ping, isStopping, timeoutMs = 1000 }: ReadinessOptions): Readiness {
  let inFlight: Promise<ReadinessResult> | null = null;

  const query = async (): Promise<ReadinessResult> => {
    const { promise: deadline, resolve } = Promise.withResolvers<ReadinessResult>();
    const timer = setTimeout(() => {
      resolve({ isReady: false, error: new Error(`The database did not respond within ${timeoutMs} ms`) });
    }, timeoutMs);
    const response = ping().then(
      () => READY,
      (error: unknown): ReadinessResult => ({ isReady: false, error }),
    );
    try {
      return await Promise.race([response, deadline]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async check() {
      if (isStopping()) return STOPPING;
      inFlight ??= query().finally(() => {
        inFlight = null;
      });
      const result = await inFlight;
      return isStopping() ? STOPPING : result;
    },
  };
}
