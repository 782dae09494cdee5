/** Readiness: whether this process should get traffic. However many ask at once, one query runs. */

export interface ReadinessOptions {
  /** A trivial query. */
  readonly ping: () => Promise<void>;
  /** Whether the process is about to stop. */
  readonly isStopping: () => boolean;
  /** How long the query may take. @default 1000 */
  readonly timeoutMs?: number;
}

export interface Readiness {
  /** Never rejects. */
  judge(): Promise<Judgement>;
}

/** There is no cause where the process is about to stop, which is no failure. */
export type Judgement = { readonly isReady: true } | { readonly isReady: false; readonly cause?: unknown };

const READY: Judgement = { isReady: true };
const STOPPING: Judgement = { isReady: false };

export function createReadiness({ ping, isStopping, timeoutMs = 1000 }: ReadinessOptions): Readiness {
  let inFlight: Promise<Judgement> | null = null;

  const check = async (): Promise<Judgement> => {
    const { promise: deadline, resolve } = Promise.withResolvers<Judgement>();
    const timer = setTimeout(() => {
      resolve({ isReady: false, cause: new Error(`The database did not answer within ${timeoutMs} ms`) });
    }, timeoutMs);
    const answer = ping().then(
      () => READY,
      (failure: unknown): Judgement => ({ isReady: false, cause: failure }),
    );
    try {
      return await Promise.race([answer, deadline]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async judge() {
      if (isStopping()) return STOPPING;
      inFlight ??= check().finally(() => {
        inFlight = null;
      });
      const judgement = await inFlight;
      return isStopping() ? STOPPING : judgement;
    },
  };
}
