/** The public door: passwords in, stored hashes and answers out. No derivation ever runs on the calling thread. */
import { availableCores, quotaCores } from "./cores.ts";
import { createSalt, digestsEqual, formatStored, parseStored, STORED_ITERATIONS } from "./encoding.ts";
import { abortError } from "./errors.ts";
import { selectKernel } from "./kernel/select.ts";
import { workerShare } from "./pacing.ts";
import { Pool, type PoolStats } from "./pool.ts";

const MAX_WORKERS = 1024;
const MAX_NICE = 19;
/** A third of a normal thread's weight (sched(7)): the event loop wins, and a busy neighbour does not starve logins. */
export const DEFAULT_NICE = 5;
const MAX_QUEUE_LIMIT = 1_000_000;
/** Bound of `derive`: half a second of a fast core, past any advice for PBKDF2. */
const MAX_ITERATIONS = 10_000_000;

export interface HasherOptions {
  /** Worker threads, 1 to 1,024. @default the cores this process may use (affinity and CPU quota) */
  readonly workers?: number;
  /**
   * Waiting derivations (those in lanes do not count) beyond which one is refused, 0 to 1,000,000.
   * @default five seconds of the capacity measured at start, at least 64
   */
  readonly queueLimit?: number;
  /** "auto", or one name of `kernels()`. @default "auto" */
  readonly kernel?: string;
  /** How far the native kernels' threads stand back for all others, 0 to 19 (nice(2)); Linux only. @default 5 */
  readonly nice?: number;
}

export interface CallOptions {
  /** Drops the derivation, which then rejects with an error named `AbortError`. */
  readonly signal?: AbortSignal | undefined;
}

export interface DeriveJob extends CallOptions {
  /** Any length, 0 too. Copied at the call; the copy is wiped when the job ends. */
  readonly password: Uint8Array;
  /** Any length, 0 too. */
  readonly salt: Uint8Array;
  /** 1 to 10,000,000. */
  readonly iterations: number;
}

export interface HasherStats extends PoolStats {
  /** The kernel that serves; where several may, the one that does most of the work when all lanes are busy. */
  readonly kernel: string;
  /** Why the portable kernel serves unasked, or which kernels failed their trial on this processor; null if neither. */
  readonly fallbackReason: string | null;
}

/** Each call rejects with HasherClosed, QueueFull, WorkerCrashed or an AbortError when there is no answer. */
export interface Hasher extends AsyncDisposable {
  /** The stored form of a new password: a fresh salt, 600,000 iterations. */
  hash(password: string, options?: CallOptions): Promise<string>;
  /** Whether this password made this stored hash; false, after a full derivation, if that is not in the stored form. */
  verify(password: string, stored: string, options?: CallOptions): Promise<boolean>;
  /** PBKDF2-HMAC-SHA256 (RFC 8018 §5.2), 32 bytes. Rejects with a RangeError for iterations out of bounds. */
  derive(job: DeriveJob): Promise<Uint8Array>;
  /** Resolves once every worker has measured what it can do, so that `stats()` knows the capacity. Does not keep the process. */
  ready(): Promise<void>;
  stats(): HasherStats;
  /** Finishes what was admitted, refuses the rest with HasherClosed, and ends the workers. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts the workers.
 * @throws RangeError if a number is out of its bounds; HashKernelUnavailable if that kernel cannot run here.
 */
export function createHasher(options: HasherOptions = {}): Hasher {
  const workers = options.workers ?? availableCores();
  checkInteger("workers", workers, { min: 1, max: MAX_WORKERS });
  if (options.queueLimit !== undefined) {
    checkInteger("queueLimit", options.queueLimit, { min: 0, max: MAX_QUEUE_LIMIT });
  }
  const nice = options.nice ?? DEFAULT_NICE;
  checkInteger("nice", nice, { min: 0, max: MAX_NICE });
  const { name, lanes, choice, fallbackReason } = selectKernel(options.kernel ?? "auto");
  const pool = new Pool({
    workers,
    lanes,
    queueLimit: options.queueLimit,
    setup: { kernel: choice, nice, share: workerShare({ quota: quotaCores(), workers }) },
    entry: new URL("./worker.ts", import.meta.url),
  });

  const deriveStored = (password: string, salt: string, { signal }: CallOptions): Promise<Uint8Array> => {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    return pool.submit({ password, salt, iterations: STORED_ITERATIONS, signal });
  };

  return {
    async hash(password, callOptions = {}) {
      const salt = createSalt();
      return formatStored(salt, await deriveStored(password, salt, callOptions));
    },

    async verify(password, stored, callOptions = {}) {
      const known = parseStored(stored);
      const digest = await deriveStored(password, known?.salt ?? createSalt(), callOptions);
      return known !== null && digestsEqual(digest, known.digest);
    },

    async derive({ password, salt, iterations, signal }) {
      checkInteger("iterations", iterations, { min: 1, max: MAX_ITERATIONS });
      if (signal?.aborted) throw abortError(signal);
      return pool.submit({ password, salt, iterations, signal });
    },

    stats() {
      const stats = pool.stats();
      return { ...stats, kernel: stats.kernel ?? name, fallbackReason };
    },
    ready: () => pool.ready(),
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

function checkInteger(name: string, value: number, { min, max }: { min: number; max: number }): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}, not ${value}`);
}
