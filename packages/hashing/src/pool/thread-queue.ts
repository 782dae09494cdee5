/**
 * The verifications that run in the runtime's own threads instead of lanes. Invariants: the limits of threads
 * and memory are never exceeded; each verification settles exactly once; an aborted verification occupies its thread to the end.
 */
import { toAbortError, WorkerCrashed } from "../errors.ts";
import { MAX_MEMORY_BYTES, type ThreadHash } from "../formats/format.ts";
import { JobQueue } from "./job-queue.ts";

interface ThreadJob extends Pick<ThreadHash, "iterations" | "memoryBytes"> {
  readonly submittedMs: number;
  run(): Promise<void>;
  reject(error: Error): void;
}

export class ThreadQueue {
  readonly #waiting = new JobQueue<ThreadJob>();
  #running = 0;
  #memoryBytes = 0;

  /** @param threads the maximum number of verifications that run at the same time */
  constructor(readonly threads: number) {}

  /** The sum over all waiting verifications. */
  get iterations(): number {
    return this.#waiting.iterations;
  }

  /** Whether the verification would start at once. */
  canStart(hash: ThreadHash): boolean {
    return this.iterations === 0 && this.#fits(hash);
  }

  /** Rejects with WorkerCrashed if the verifier fails, an AbortError after an abort, or the error that `expire` creates. */
  async submit(hash: ThreadHash, password: string, submittedMs: number, signal?: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const fail = (error: unknown) => reject(new WorkerCrashed(error));
    const run = () => Promise.try(hash.verify, password).then(resolve, fail);
    const job = { ...hash, submittedMs, run, reject };
    const onAbort = () => {
      this.#waiting.delete(job);
      if (signal) reject(toAbortError(signal));
    };
    signal?.addEventListener("abort", onAbort);
    this.#waiting.push(job);
    this.#start();
    return promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  /** Rejects the waiting verifications that were submitted before this time. */
  expire(beforeMs: number, createError: () => Error): void {
    for (const job of this.#waiting) {
      if (job.submittedMs >= beforeMs) return;
      this.#waiting.delete(job);
      job.reject(createError());
    }
  }

  #fits({ memoryBytes }: Pick<ThreadHash, "memoryBytes">): boolean {
    return this.#running < this.threads && this.#memoryBytes + memoryBytes <= MAX_MEMORY_BYTES;
  }

  #start(): void {
    for (const job of this.#waiting) {
      if (!this.#fits(job)) return;
      this.#waiting.delete(job);
      this.#running += 1;
      this.#memoryBytes += job.memoryBytes;
      void job.run().finally(() => {
        this.#running -= 1;
        this.#memoryBytes -= job.memoryBytes;
        this.#start();
      });
    }
  }
}
