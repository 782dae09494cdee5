/** The public API: hashes and verifies passwords. No derivation ever runs on the calling thread. */
import { timingSafeEqual } from "node:crypto";
import { availableCores, createQuotaBudget, quotaCores } from "./cpu-quota.ts";
import { WorkerCrashed } from "./errors.ts";
import { startsWith } from "./formats/format.ts";
import { parseImportedHash } from "./formats/formats.ts";
import { type ChosenKernel, chooseKernel } from "./kernel/choose-kernel.ts";
import type { JobInput } from "./pool/job.ts";
import type { PoolStats } from "./pool/metrics.ts";
import { Pool } from "./pool/pool.ts";
import { createSalt, formatStoredHash, parseStoredHash, STORED_ITERATIONS } from "./stored-hash.ts";

/** A third of the normal weight (sched(7)): the event loop has priority, and busy processes cannot starve the logins. */
const DEFAULT_NICE = 5;
/** The limit of `derive`, well above every recommendation for PBKDF2. These iterations take half a second on a fast core. */
const MAX_ITERATIONS = 10_000_000;

export interface HasherOptions {
  /** The number of worker threads, 1 to 1,024. @default the cores available to this process (affinity and CPU quota) */
  readonly workers?: number;
  /**
   * The maximum waiting work, 0 to 1,000,000. The unit is a derivation of 600,000 iterations. Derivations in lanes do not count.
   * @default the work that takes `queueSeconds` at the recently achieved capacity, at least 64
   */
  readonly queueLimit?: number;
  /** The maximum time that a derivation waits for a lane, 1 to 3,600 seconds; at most 500 ms during sustained overload. @default 5 */
  readonly queueSeconds?: number;
  /** "auto" or one of the names that `kernels()` returns. @default "auto" */
  readonly kernel?: string;
  /** The nice value of the hashing threads, 0 to 19 (nice(2)). It affects only native kernels on Linux. @default 5 */
  readonly nice?: number;
}

export interface CallOptions {
  /** Aborting drops the derivation and rejects the call with an error named `AbortError`. */
  readonly signal?: AbortSignal | undefined;
}

export interface HashOptions extends CallOptions {
  /** The salt of the hash to replace, if the password stays the same. @default random */
  readonly salt?: string;
}

export interface DeriveJob extends CallOptions {
  /** Any length, including 0. The bytes are copied immediately; the copy is wiped when the job ends. */
  readonly password: Uint8Array;
  /** Any length, including 0. */
  readonly salt: Uint8Array;
  /** 1 to 10,000,000. */
  readonly iterations: number;
}

export interface HasherStats extends PoolStats, Pick<ChosenKernel, "fallbackReason" | "isNativeMissing"> {
  /** The kernel that does most of the work when all lanes are busy. */
  readonly kernel: string;
}

/** Every derivation can reject with HasherClosed, QueueFull, WorkerCrashed or an AbortError. */
export interface Hasher extends AsyncDisposable {
  /** Hashes a password with 600,000 iterations and returns the stored form of the hash. */
  hash(password: string, options?: HashOptions): Promise<string>;
  /** Returns whether the password matches the stored hash. A malformed stored hash returns false after a full derivation. */
  verify(password: string, stored: string, options?: CallOptions): Promise<boolean>;
  /**
   * Returns whether the password matches a hash of another system. PBKDF2-HMAC-SHA256 runs in a lane. Other formats run in the
   * runtime's threads: one thread for every two workers, at most 129 MiB in total. Rejects with WorkerCrashed if the verifier
   * fails. Throws synchronously if the hash is not supported (WorkerCrashed) or too many verifications wait for a thread
   * (QueueFull). After such an error, the caller must not start another derivation for the same password.
   */
  verifyImported(password: string, imported: string, options?: CallOptions): Promise<boolean>;
  /** PBKDF2-HMAC-SHA256 (RFC 8018 §5.2), 32 bytes. Rejects with a RangeError if iterations are out of bounds. */
  derive(job: DeriveJob): Promise<Uint8Array>;
  /** Resolves once `stats()` includes the measured capacity of every worker that can start. Waiting does not keep the process alive. */
  ready(): Promise<void>;
  stats(): HasherStats;
  /** Rejects new derivations with HasherClosed, finishes the submitted ones, then ends the workers. Idempotent. */
  close(): Promise<void>;
}

/** Starts the workers. @throws RangeError if a number is out of bounds, HashKernelUnavailable if the kernel cannot run */
export function createHasher(options: HasherOptions = {}): Hasher {
  const { workers = availableCores(), queueLimit, queueSeconds = 5, nice = DEFAULT_NICE } = options;
  checkInteger("workers", workers, { min: 1, max: 1024 });
  if (queueLimit !== undefined) checkInteger("queueLimit", queueLimit, { min: 0, max: 1_000_000 });
  checkInteger("queueSeconds", queueSeconds, { min: 1, max: 3600 });
  checkInteger("nice", nice, { min: 0, max: 19 });
  const { name, lanes, choice, fallbackReason, isNativeMissing } = chooseKernel(options.kernel ?? "auto");
  const pool = new Pool({
    workers,
    lanes,
    queueLimit,
    queueSeconds,
    setup: { kernel: choice, nice, quota: createQuotaBudget(quotaCores(), workers) },
    workerUrl: new URL("./worker/worker.ts", import.meta.url),
  });

  /** Derives a digest, returns the result of `use`, and wipes the digest. */
  async function withDigest<T>(input: JobInput, use: (digest: Uint8Array) => T): Promise<T> {
    const digest = await pool.submit(input);
    try {
      return use(digest);
    } finally {
      digest.fill(0);
    }
  }

  return {
    hash(password, { salt = createSalt(), signal } = {}) {
      const input = { password, salt, iterations: STORED_ITERATIONS, signal };
      return withDigest(input, (digest) => formatStoredHash({ salt, digest }));
    },

    verify(password, stored, { signal } = {}) {
      const parsed = parseStoredHash(stored);
      const salt = parsed?.salt ?? createSalt();
      const input = { password, salt, iterations: STORED_ITERATIONS, signal };
      return withDigest(input, (digest) => parsed !== null && timingSafeEqual(digest, parsed.digest));
    },

    verifyImported(password, imported, { signal } = {}) {
      const hash = parseCheckedHash(imported);
      if (hash.runsIn === "thread") return pool.verify(hash, password, signal);
      return withDigest({ ...hash, password, signal }, (digest) => startsWith(digest, hash.key));
    },

    async derive({ password, salt, iterations, signal }) {
      checkInteger("iterations", iterations, { min: 1, max: MAX_ITERATIONS });
      return pool.submit({ password, salt, iterations, signal });
    },

    stats() {
      const stats = pool.stats();
      return { ...stats, kernel: stats.kernel ?? name, fallbackReason, isNativeMissing };
    },
    ready: () => pool.ready(),
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

/** Hashes are checked before they are stored, so an unsupported hash counts as a failure of the verifier. */
function parseCheckedHash(imported: string) {
  try {
    return parseImportedHash(imported);
  } catch (error) {
    throw new WorkerCrashed(error);
  }
}

function checkInteger(name: string, value: number, { min, max }: { min: number; max: number }): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}, not ${value}`);
}
