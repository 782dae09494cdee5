/** One worker thread that is always replaced: after a crash at once, after crashes in a row with growing pauses. */
import { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker, WorkerSetup } from "./protocol.ts";

const BACKOFF_BASE_MS = 50;
const BACKOFF_LIMIT_MS = 10_000;
/** Deaths in a row, with no job finished in between, from which on a thread counts as broken. */
const BROKEN_AFTER = 3;

export interface ThreadOptions {
  readonly entry: URL;
  readonly setup: WorkerSetup;
  onMessage(message: FromWorker): void;
  /** The worker is gone, and with it what it held. */
  onDeath(cause: unknown): void;
  /** A new worker takes messages in place of the dead one. */
  onSpawn(): void;
}

/** `#worker` is null exactly while a dead worker's pause lasts, and once closed. */
export class Thread {
  readonly #options: ThreadOptions;
  #worker: Worker | null = null;
  #pause: ReturnType<typeof setTimeout> | null = null;
  #deathsInRow = 0;
  #closed: PromiseWithResolvers<void> | null = null;
  #keepsProcess = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#spawn();
  }

  get alive(): boolean {
    return this.#worker !== null;
  }

  /** Its workers die before they finish anything. */
  get broken(): boolean {
    return this.#deathsInRow >= BROKEN_AFTER;
  }

  post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  /** Whether this thread keeps the process from ending. */
  keepProcess(keeps: boolean): void {
    this.#keepsProcess = keeps;
    if (keeps) this.#worker?.ref();
    else this.#worker?.unref();
    if (keeps) this.#pause?.ref();
    else this.#pause?.unref();
  }

  /** Resolves when the worker has emptied its lanes and ended. */
  close(): Promise<void> {
    if (this.#closed) return this.#closed.promise;
    this.#closed = Promise.withResolvers<void>();
    if (this.#pause) clearTimeout(this.#pause);
    if (this.#worker) {
      this.keepProcess(true);
      this.post({ kind: "close" });
    } else {
      this.#closed.resolve();
    }
    return this.#closed.promise;
  }

  #spawn(): void {
    const worker = new Worker(this.#options.entry, { workerData: this.#options.setup });
    let cause: unknown;
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "left") this.#deathsInRow = 0;
      this.#options.onMessage(message);
    });
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => this.#exited(cause ?? new Error(`The worker ended with code ${code}`)));
    this.#worker = worker;
    this.keepProcess(this.#keepsProcess);
  }

  #exited(cause: unknown): void {
    this.#worker = null;
    if (this.#closed) {
      this.#closed.resolve();
      return;
    }
    this.#deathsInRow += 1;
    const pauseMs = this.#deathsInRow === 1 ? 0 : BACKOFF_BASE_MS * 2 ** (this.#deathsInRow - 2);
    this.#pause = setTimeout(
      () => {
        this.#pause = null;
        this.#spawn();
        this.#options.onSpawn();
      },
      Math.min(pauseMs, BACKOFF_LIMIT_MS),
    );
    this.keepProcess(this.#keepsProcess);
    this.#options.onDeath(cause);
  }
}
