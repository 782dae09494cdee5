/** Whether this process can handle requests. Concurrent checks share one query. */
import { withTimeout } from "../../timeout.ts";

interface ReadinessOptions {
  /** A trivial query. */
  readonly ping: () => Promise<void>;
  /** Whether the process is shutting down. */
  readonly isStopping: () => boolean;
  /** Time limit for the query. @default 1000 */
  readonly timeoutMs?: number;
}

export type Readiness = ReturnType<typeof createReadiness>;

/** A shutdown is not an error: `error` is then undefined. */
type ReadinessResult = { readonly isReady: true } | { readonly isReady: false; readonly error?: unknown };

const READY: ReadinessResult = { isReady: true };
const STOPPING: ReadinessResult = { isReady: false };

export function createReadiness({ ping, isStopping, timeoutMs = 1000 }: ReadinessOptions) {
  let inFlight: Promise<ReadinessResult> | null = null;

  const query = (): Promise<ReadinessResult> =>
    withTimeout("The database", ping(), timeoutMs).then(
      () => READY,
      (error: unknown) => ({ isReady: false, error }),
    );

  return {
    /** Never rejects. */
    async check(): Promise<ReadinessResult> {
      if (isStopping()) return STOPPING;
      inFlight ??= query().finally(() => {
        inFlight = null;
      });
      const result = await inFlight;
      return isStopping() ? STOPPING : result;
    },
  };
}
