/** Measures how many passwords a second this machine can check with the workers and the kernel that the service would use. */
import { createHasher } from "@latchkey/hashing";
import type { Hashing } from "./environment.ts";

export interface Capacity {
  readonly kernel: string;
  readonly workers: number;
  /** Derivations that all workers together have under way at once. */
  readonly lanes: number;
  readonly derivationsPerSecond: number;
  /** Why a slower kernel serves than this machine could run; null if none does. */
  readonly fallbackReason: string | null;
}

/** Larger than any measurement: nothing is refused. */
const QUEUE_LIMIT = 1_000_000;

/** @param seconds about how long to measure, after one round that warms up; at least one round is measured. */
export async function measureCapacity({ kernel, workers }: Hashing, seconds: number): Promise<Capacity> {
  await using hasher = createHasher({
    kernel,
    queueLimit: QUEUE_LIMIT,
    ...(workers !== null && { workers }),
  });
  const { lanes } = hasher.stats();
  const round = await timeDerivations(lanes, () => hasher.hash("capacity"));
  const derivations = lanes * Math.max(1, Math.round(seconds / round));
  const elapsed = await timeDerivations(derivations, () => hasher.hash("capacity"));
  const stats = hasher.stats();
  return {
    kernel: stats.kernel,
    workers: stats.workers,
    lanes,
    derivationsPerSecond: derivations / elapsed,
    fallbackReason: stats.fallbackReason,
  };
}

/** Seconds until `count` of them, begun together, are done: whole rounds, so that none is counted in part. */
async function timeDerivations(count: number, derive: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: count }, derive));
  return (performance.now() - start) / 1000;
}
