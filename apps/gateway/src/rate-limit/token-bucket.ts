/**
 * Token buckets in this process and in Redis, of fixed size. Each key has two cells, which other keys share, and is limited
 * only if neither has an attempt left (a count-min sketch with conservative update: Estan and Varghese, 2002). Nothing is
 * dropped, so other keys never give back an attempt. They can take some: while 100,000 buckets are empty, 1 % of the others
 * are, too.
 */
import { hash } from "node:crypto";

/** `capacity` attempts at first, then one more every `refillMs`, up to `capacity`. `name` separates equal limits. */
export interface BucketLimit {
  readonly name: string;
  readonly capacity: number;
  readonly refillMs: number;
}

export interface TokenBucket {
  /**
   * Deducts one attempt from the bucket of `key`. Returns 0, or if the bucket is empty, the milliseconds until its next
   * attempt; then nothing is deducted. Never throws.
   * @param key a keyed digest in hexadecimal digits: clients cannot choose keys that collide
   */
  take(key: string): number | Promise<number>;
}

/** Of all buckets of one limit. */
const CELLS = 2 ** 21;

function cellsOf(key: string, cells: number): readonly [number, number] {
  const bytes = hash("sha256", key, "buffer");
  return [bytes.readUInt32BE(0) % cells, bytes.readUInt32BE(4) % cells];
}

/** @param now milliseconds since the epoch */
export function createTokenBucket({ capacity, refillMs }: Omit<BucketLimit, "name">, now = Date.now) {
  /** The time at which each cell is full again; each attempt moves it by `refillMs`. */
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
 * `take` as a script. A page is a string of 48-bit times, and expires when all of its buckets are full again. All pages take
 * about 20 MB: buckets of any number of e-mails leave room for the counters.
 */
const TAKE_SCRIPT = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local one, other = "#" .. ARGV[1], "#" .. ARGV[2]
local cells = redis.call("BITFIELD", KEYS[1], "GET", "u48", one, "GET", "u48", other)
local full_at = math.max(math.min(cells[1], cells[2]), now) + ARGV[3]
local wait = full_at - now - ARGV[4]
if wait > 0 then return wait end
redis.call("BITFIELD", KEYS[1], "SET", "u48", one, math.max(cells[1], full_at))
redis.call("BITFIELD", KEYS[1], "SET", "u48", other, math.max(cells[2], full_at))
redis.call("PEXPIRE", KEYS[1], ARGV[4])
return 0`;

/** One for the first two hexadecimal digits of a key, because an operator must find and delete the page of an e-mail. */
const PAGES = 256;

/** The command that takes an attempt in Redis and replies with the wait. */
export function takeCommand({ name, capacity, refillMs }: BucketLimit, key: string) {
  const page = `latchkey:budget:${name}:${key.slice(0, 2)}`;
  return [TAKE_SCRIPT, page, ...cellsOf(key, CELLS / PAGES), refillMs, capacity * refillMs] as const;
}
