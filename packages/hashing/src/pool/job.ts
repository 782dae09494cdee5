/** One derivation on its way through the pool. A job settles exactly once. Then its memory is wiped. */
import { toAbortError } from "../errors.ts";
import { JobMemory } from "../protocol.ts";

export interface JobInput {
  /** Text is encoded as UTF-8. */
  readonly password: string | Uint8Array;
  readonly salt: string | Uint8Array;
  readonly iterations: number;
  readonly signal?: AbortSignal | undefined;
}

const encoder = new TextEncoder();

export class Job {
  readonly memory: JobMemory;
  readonly id: number;
  readonly submittedMs: number;
  readonly iterations: number;
  readonly #result = Promise.withResolvers<Uint8Array>();
  readonly promise = this.#result.promise;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  /** The index of the worker to which the job is assigned, if any. */
  workerIndex: number | null = null;
  /** The ticket of the latest offer. Each offer increments the ticket. */
  ticket = 0;
  /** The number of workers that crashed while this job was in one of their lanes. */
  crashes = 0;
  settled = false;
  /** Whether a lane held the job when the job settled. The worker reports such a job later, when the lane is cleared. */
  settledInLane = false;

  /** @param onAbort called once, after an abort has rejected the job. */
  constructor(
    { id, submittedMs, password, salt, iterations, signal }: JobInput & Record<"id" | "submittedMs", number>,
    onAbort: (job: Job) => void,
  ) {
    this.id = id;
    this.submittedMs = submittedMs;
    this.iterations = iterations;
    this.memory = JobMemory.allocate({
      passwordBytes: Buffer.byteLength(password),
      saltBytes: Buffer.byteLength(salt),
      iterations,
    });
    copyBytes(password, this.memory.password);
    copyBytes(salt, this.memory.salt);
    this.#signal = signal;
    this.#onAbort = () => {
      if (signal && this.reject(toAbortError(signal))) onAbort(this);
    };
    signal?.addEventListener("abort", this.#onAbort);
  }

  /** Resolves with a copy of the digest in the job's memory. */
  resolve(): boolean {
    return this.#settle(() => this.#result.resolve(this.memory.digest.slice()));
  }

  reject(error: Error): boolean {
    return this.#settle(() => this.#result.reject(error));
  }

  #settle(settle: () => void): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    settle();
    // Withdraw before wiping: see `JobMemory.isClaimed`.
    this.settledInLane = this.memory.withdraw();
    this.memory.wipe();
    return true;
  }
}

function copyBytes(value: string | Uint8Array, target: Uint8Array): void {
  if (typeof value === "string") encoder.encodeInto(value, target);
  else target.set(value);
}
