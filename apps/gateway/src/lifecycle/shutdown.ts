/** The orderly end: not ready, wait for balancers, stop accepting, drain, close what was opened, last first. */
import type { Logger } from "../observability/logger.ts";

export interface ShutdownOptions {
  /** How long to stay open, unready, before draining. */
  readonly delayMs: number;
  /** How long draining and closing may take before the process ends all the same. */
  readonly graceMs: number;
  readonly logger: Logger;
  /** In the order they are run; each begins when the one before has ended. */
  readonly steps: readonly (() => Promise<void>)[];
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

export interface Shutdown {
  readonly isStopping: () => boolean;
  /** Begins the end once; of later calls only an exit code that tells of a failure counts. */
  begin(reason: string, exitCode: number): void;
  /** For a signal: the first begins the end, one more than half a second later ends the process at once. */
  onSignal(signal: string): void;
}

/** A signal sent to a whole process group arrives twice, directly and forwarded by the parent. */
const SAME_SIGNAL_MS = 500;
/** 128 + SIGTERM, as shells report it: asked twice, the process did not finish in order. */
const EXIT_INTERRUPTED = 143;
const EXIT_GRACE_PASSED = 1;

export function createShutdown({ delayMs, graceMs, logger, steps, exit }: ShutdownOptions): Shutdown {
  let beganAt: number | null = null;
  let exitCode = 0;

  const run = async (): Promise<void> => {
    await Bun.sleep(delayMs);
    const timer = setTimeout(() => {
      logger.error("shutdown took longer than its grace");
      exit(EXIT_GRACE_PASSED);
    }, graceMs);
    for (const step of steps) {
      await step().catch((error: unknown) => logger.error({ err: error }, "shutdown step failed"));
    }
    clearTimeout(timer);
    logger.info("stopped");
    exit(exitCode);
  };

  const begin = (reason: string, code: number): void => {
    exitCode ||= code;
    if (beganAt !== null) return;
    beganAt = performance.now();
    logger.info({ reason }, "stopping");
    void run();
  };

  return {
    isStopping: () => beganAt !== null,
    begin,
    onSignal(signal) {
      if (beganAt === null) begin(signal, 0);
      else if (performance.now() - beganAt > SAME_SIGNAL_MS) exit(EXIT_INTERRUPTED);
    },
  };
}
