/** Keeps one worker thread running: restarts it immediately after the first crash, then with exponential backoff. */
import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker, WorkerSetup } from "../protocol.ts";

const BACKOFF_BASE_MS = 50;
const BACKOFF_LIMIT_MS = 10_000;
/** A worker counts as broken after this many consecutive crashes without a finished job in between. */
const BROKEN_AFTER_CRASHES = 3;

export interface WorkerSupervisorOptions {
  readonly workerUrl: URL;
  readonly setup: WorkerSetup;
  onMessage(message: FromWorker): void;
  /** Called after the worker exited unexpectedly. */
  onExit(cause: unknown): void;
}

/**
 * `#worker` is null only while a restart is pending, and after `close`. Messages of a former worker are ignored. Neither the
 * worker nor a pending restart keeps the process alive.
 */
export class WorkerSupervisor {
  readonly #options: WorkerSupervisorOptions;
  #worker: Worker | null = null;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;
  #consecutiveCrashes = 0;
  #isClosing = false;

  constructor(options: WorkerSupervisorOptions) {
    this.#options = options;
    this.#start();
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Whether the last `BROKEN_AFTER_CRASHES` workers crashed before any of them finished a job. */
  get isBroken(): boolean {
    return this.#consecutiveCrashes >= BROKEN_AFTER_CRASHES;
  }

  post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  /** Resolves when the worker has cleared its lanes and exited. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#restartTimer);
    const worker = this.#worker;
    if (!worker) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    this.post({ kind: "close" });
    await exited;
  }

  #start(): void {
    let worker: Worker;
    try {
      worker = new Worker(this.#options.workerUrl, { workerData: this.#options.setup });
    } catch (error) {
      // The system cannot start a thread. This counts as a crash, which is reported after the constructor has returned.
      queueMicrotask(() => this.#onExit(error));
      return;
    }
    let cause: unknown;
    worker.on("message", (message: FromWorker) => {
      if (worker !== this.#worker) return;
      if (message.kind === "done") this.#consecutiveCrashes = 0;
      this.#options.onMessage(message);
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => this.#onExit(cause ?? new Error(`The worker exited with code ${code}`)));
    worker.unref();
    this.#worker = worker;
  }

  #onExit(cause: unknown): void {
    this.#worker = null;
    if (this.#isClosing) return;
    this.#consecutiveCrashes += 1;
    const backoffMs =
      this.#consecutiveCrashes === 1 ? 0 : BACKOFF_BASE_MS * 2 ** (this.#consecutiveCrashes - 2);
    this.#restartTimer = setTimeout(() => this.#start(), Math.min(backoffMs, BACKOFF_LIMIT_MS)).unref();
    this.#options.onExit(cause);
  }
}
