/** One derivation on its way through the pool. It settles exactly once, and its memory is wiped when it does. */
import { abortError } from "./errors.ts";
import { JobMemory } from "./protocol.ts";

export interface JobInput {
  /** Text enters as its UTF-8 bytes. */
  readonly password: string | Uint8Array;
  readonly salt: string | Uint8Array;
  readonly iterations: number;
  readonly signal?: AbortSignal | undefined;
}

const encoder = new TextEncoder();

export class Job {
  readonly memory: JobMemory;
  readonly admittedMs = performance.now();
  readonly #promise = Promise.withResolvers<Uint8Array>();
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  /** Under which the job is offered; grows with each offer. */
  ticket = 0;
  /** Workers that died while this job was in a lane of theirs. */
  deaths = 0;
  settled = false;

  /** @param onAbort called once, after the job has rejected. */
  constructor(
    readonly id: number,
    input: JobInput,
    onAbort: (job: Job) => void,
  ) {
    this.memory = JobMemory.allocate({
      passwordBytes: byteLength(input.password),
      saltBytes: byteLength(input.salt),
      iterations: input.iterations,
    });
    write(input.password, this.memory.password);
    write(input.salt, this.memory.salt);
    this.#signal = input.signal;
    this.#onAbort = () => {
      if (!this.#signal || !this.reject(abortError(this.#signal))) return;
      onAbort(this);
    };
    this.#signal?.addEventListener("abort", this.#onAbort);
  }

  get promise(): Promise<Uint8Array> {
    return this.#promise.promise;
  }

  /** Resolves with a copy of the digest in the job's memory. */
  resolve(): boolean {
    if (!this.#settle()) return false;
    this.#promise.resolve(this.memory.digest.slice());
    this.memory.wipe();
    return true;
  }

  reject(error: Error): boolean {
    if (!this.#settle()) return false;
    this.#promise.reject(error);
    this.memory.wipe();
    return true;
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }
}

function byteLength(value: string | Uint8Array): number {
  return typeof value === "string" ? Buffer.byteLength(value, "utf8") : value.byteLength;
}

function write(value: string | Uint8Array, into: Uint8Array): void {
  if (typeof value === "string") encoder.encodeInto(value, into);
  else into.set(value);
}
