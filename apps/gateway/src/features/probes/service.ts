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
  isReady(): Promise<boolean>;
}

export function createReadiness({ ping, isStopping, timeoutMs = 1000 }: ReadinessOptions): Readiness {
  let inFlight: Promise<boolean> | null = null;

  const check = async (): Promise<boolean> => {
    const { promise: deadline, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const answer = ping().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answer, deadline]);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async isReady() {
      if (isStopping()) return false;
      inFlight ??= check().finally(() => {
        inFlight = null;
      });
      return (await inFlight) && !isStopping();
    },
  };
}
