/**
 * Token buckets in a fixed amount of memory, in this process and in Redis. The bucket of a key consists of two cells, which
 * other keys also use. A bucket is empty only if neither cell has an attempt left (a count-min sketch with conservative update:
 * Estan and Varghese, 2002). No cell is dropped, so other keys never refill a bucket. Other keys can empty a bucket: while
 * 100,000 buckets are empty, 1 % of all other buckets are also empty.
 */
import { hash } from "node:crypto";
import { monotonicNow } from "./clock.ts";

/** Allows `capacity` attempts, then one more every `refillMs`, up to `capacity`. `name` separates limits with equal numbers. */
export interface BucketLimit {
  readonly name: string;
  readonly capacity: number;
  readonly refillMs: number;
}

export interface TokenBucket {
  /**
   * Deducts one attempt from the bucket of `key` and returns 0. If the bucket is empty, deducts nothing and returns the
   * milliseconds until the next attempt. Never throws.
   * @param key a keyed digest in hexadecimal digits, so that clients cannot choose keys that collide
   */
  take(key: string): number | Promise<number>;
}

/** Number of cells for all buckets of one limit. */
const CELLS = 2 ** 21;

function cellsOf(key: string, cells: number): readonly [number, number] {
  const bytes = hash("sha256", key, "buffer");
  return [bytes.readUInt32BE(0) % cells, bytes.readUInt32BE(4) % cells];
}

/** @param now milliseconds of a clock that is never set back */
export function createTokenBucket({ capacity, refillMs }: Omit<BucketLimit, "name">, now = monotonicNow) {
  /** The time at which each cell is full again. Each attempt adds `refillMs` to this time. */
  const fullAt = new Float64Array(CELLS);
  const timeOf = (cell: number): number => fullAt[cell] ?? 0;

  return {
    take(key: string): number {
      const cells = cellsOf(key, CELLS);
      const time = now();
      const nextFullAt = Math.max(Math.min(...cells.map(timeOf)), time) + refillMs;
      const waitMs = nextFullAt - time - capacity * refillMs;
      if (waitMs > 0) return waitMs;
      for (const cell of cells) fullAt[cell] = Math.max(timeOf(cell), nextFullAt);
      return 0;
    },
  };
}

/**
 * The script of `take`. A page is a Redis string that contains cells as 48-bit times. A page expires when all its cells are full
 * again. All pages together take at most about 20 MB, however many e-mails there are, which leaves memory for the windows. A time
 * that no attempt before `now` can have written was written before the clock of Redis was set back, and counts as full.
 */
const TAKE_SCRIPT = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local one, other = "#" .. ARGV[1], "#" .. ARGV[2]
local cells = redis.call("BITFIELD", KEYS[1], "GET", "u48", one, "GET", "u48", other)
for index, cell in ipairs(cells) do
  if cell > now + ARGV[4] then cells[index] = 0 end
end
local full_at = math.max(math.min(cells[1], cells[2]), now) + ARGV[3]
local wait = full_at - now - ARGV[4]
if wait > 0 then return wait end
redis.call("BITFIELD", KEYS[1], "SET", "u48", one, math.max(cells[1], full_at))
redis.call("BITFIELD", KEYS[1], "SET", "u48", other, math.max(cells[2], full_at))
redis.call("PEXPIRE", KEYS[1], ARGV[4])
return 0`;

/** The first two hexadecimal digits of a key identify the page, so that an operator can find and delete the page of an e-mail. */
const PAGES = 256;

/** Returns the command that runs `take` in Redis. The reply of the command is the time to wait. */
export function takeCommand({ name, capacity, refillMs }: BucketLimit, key: string) {
  const page = `latchkey:budget:${name}:${key.slice(0, 2)}`;
  return [TAKE_SCRIPT, page, ...cellsOf(key, CELLS / PAGES), refillMs, capacity * refillMs] as const;
}
