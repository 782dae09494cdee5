/** Every error of this package that a caller may want to tell apart: one class each, with a stable `code`. */

/** The hasher was closed before this derivation was admitted. */
export class HasherClosed extends Error {
  override readonly name = "HasherClosed";
  readonly code = "HASHER_CLOSED";
  constructor() {
    super("The hasher is closed");
  }
}

/** As many derivations wait as may wait. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
  readonly code = "HASH_QUEUE_FULL";
  /** Whole seconds, at least 1, until what waits now will have been derived at the current rate. */
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super("Too many derivations are waiting");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The worker that ran this derivation died, and so did the one that ran it again; `cause` is why the last one died. */
export class WorkerCrashed extends Error {
  override readonly name = "WorkerCrashed";
  readonly code = "HASH_WORKER_CRASHED";
  constructor(cause: unknown) {
    super("The hashing worker crashed", { cause });
  }
}

/** The kernel asked for by name is unknown or cannot run on this machine. */
export class HashKernelUnavailable extends Error {
  override readonly name = "HashKernelUnavailable";
  readonly code = "HASH_KERNEL_UNAVAILABLE";
  readonly kernel: string;
  readonly reason: string;
  constructor(kernel: string, reason: string) {
    super(`Hash kernel "${kernel}" is unavailable: ${reason}`);
    this.kernel = kernel;
    this.reason = reason;
  }
}

/** What an aborted derivation rejects with: the signal's own reason if that is an AbortError, else a new one. */
export function abortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return new DOMException("The derivation was aborted", "AbortError");
}
