/**
 * Token buckets in a fixed amount of memory, in this process and in Redis. The bucket of a key consists of two cells, which
 * other keys also use. A bucket is empty only if neither cell has an attempt left (a count-min sketch with conservative update:
 * Estan and Varghese, 2002). No cell is dropped, so other keys never refill a bucket. Other keys can empty a bucket: while
 * 100,000 buckets are empty, 1 % of all other buckets are also empty. The script for Redis is in `packages/limits`.
 */
import { BUCKET_CELLS, type BucketLimit, cellsOf } from "@latchkey/limits";
import { monotonicNow } from "./clock.ts";

export interface TokenBucket {
  /**
   * Deducts one attempt from the bucket of `key` and returns 0. If the bucket is empty, deducts nothing and returns the
   * milliseconds until the next attempt. Never throws.
   * @param key a keyed digest in hexadecimal digits, so that clients cannot choose keys that collide
   */
  take(key: string): number | Promise<number>;
  /** Returns what `take` would return, and deducts nothing. */
  read(key: string): number | Promise<number>;
}

/** @param now milliseconds of a clock that is never set back */
export function createTokenBucket({ capacity, refillMs }: Omit<BucketLimit, "name">, now = monotonicNow) {
  /** The time at which each cell is full again. Each attempt adds `refillMs` to this time. */
  const fullAt = new Float64Array(BUCKET_CELLS);
  const timeOf = (cell: number): number => fullAt[cell] ?? 0;

  const nextOf = (key: string) => {
    const cells = cellsOf(key, BUCKET_CELLS);
    const time = now();
    const nextFullAt = Math.max(Math.min(...cells.map(timeOf)), time) + refillMs;
    return { cells, nextFullAt, waitMs: Math.max(0, nextFullAt - time - capacity * refillMs) };
  };

  return {
    take(key: string): number {
      const { cells, nextFullAt, waitMs } = nextOf(key);
      if (waitMs === 0) for (const cell of cells) fullAt[cell] = Math.max(timeOf(cell), nextFullAt);
      return waitMs;
    },
    read: (key: string): number => nextOf(key).waitMs,
  };
}
