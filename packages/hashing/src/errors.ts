/** The errors that callers can distinguish. Each error has its own class and a stable `code`. */

/** The hasher was closed before this derivation was submitted. */
export class HasherClosed extends Error {
  override readonly name = "HasherClosed";
  readonly code = "HASHER_CLOSED";
  constructor() {
    super("The hasher is closed");
  }
}

/** Every lane is busy and the queue has reached its limit, or the derivation has waited too long for a lane. */
export class QueueFull extends Error {
  override readonly name = "QueueFull";
  readonly code = "HASH_QUEUE_FULL";
  /** @param retryAfterSeconds the time to empty the queue at the measured capacity: whole, from 1 to the maximum waiting time */
  constructor(readonly retryAfterSeconds: number) {
    super("The hash queue is full");
  }
}

/** The worker crashed in both attempts to run this derivation; `cause` is the last crash. */
export class WorkerCrashed extends Error {
  override readonly name = "WorkerCrashed";
  readonly code = "HASH_WORKER_CRASHED";
  constructor(cause: unknown) {
    super("The hashing worker crashed", { cause });
  }
}

/** The requested kernel does not exist or cannot run on this machine. */
export class HashKernelUnavailable extends Error {
  override readonly name = "HashKernelUnavailable";
  readonly code = "HASH_KERNEL_UNAVAILABLE";
  constructor(kernel: string, reason: string) {
    super(`Hash kernel "${kernel}" is unavailable: ${reason}`);
  }
}

/** Returns the error for an aborted derivation: the signal's reason if that is an AbortError, otherwise a new AbortError. */
export function toAbortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return new DOMException("The derivation was aborted", "AbortError");
}
