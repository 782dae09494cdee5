/** Graceful shutdown: reports not ready, waits for load balancers, then runs steps that drain requests and close resources. */
import { EXIT } from "@latchkey/cli";
import type { Logger } from "../observability/logger.ts";

interface ShutdownOptions {
  /** Time before the first step. During this time, the service reports that it is not ready, but still handles requests. */
  readonly delayMs: number;
  /** Maximum time for all steps. After this time, the process exits with code 1. */
  readonly graceMs: number;
  readonly logger: Logger;
  /** The steps run in this order. Each step begins when the previous step has settled. */
  readonly steps: readonly (() => Promise<void>)[];
  readonly exit: (code: number) => void;
}

export interface Shutdown {
  isStopping(): boolean;
  /** Starts the shutdown once. A later call only replaces exit code 0 with `code`. */
  begin(reason: string, code: number): void;
  /** The first signal starts the shutdown. A signal more than 0.5 s after the start forces an exit. */
  onSignal(signal: string): void;
}

/** A signal to a process group can arrive twice: directly, and forwarded by the parent process. */
const DUPLICATE_SIGNAL_MS = 500;

export function createShutdown({ delayMs, graceMs, logger, steps, exit }: ShutdownOptions): Shutdown {
  let startedAt: number | null = null;
  let exitCode = 0;

  const run = async (): Promise<void> => {
    await Bun.sleep(delayMs);
    const timer = setTimeout(() => {
      logger.error("shutdown took longer than its grace");
      exit(EXIT.failed);
    }, graceMs);
    for (const step of steps) {
      await step().catch((error: unknown) => logger.error({ err: error }, "shutdown step failed"));
    }
    clearTimeout(timer);
    logger.info("stopped");
    exit(exitCode);
  };

  const begin: Shutdown["begin"] = (reason, code) => {
    exitCode ||= code;
    if (startedAt !== null) return;
    startedAt = performance.now();
    logger.info({ reason }, "stopping");
    void run();
  };

  return {
    isStopping: () => startedAt !== null,
    begin,
    onSignal(signal) {
      if (startedAt === null) begin(signal, 0);
      else if (performance.now() - startedAt > DUPLICATE_SIGNAL_MS) exit(EXIT.terminated);
    },
  };
}
