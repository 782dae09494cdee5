/**
 * The counters of limits in Redis: their keys, and the scripts that count and read them. The service counts; the admin tool only
 * reads. Every script replies with numbers.
 */
import { hash } from "node:crypto";

/** `name` separates limits with equal `windowMs`. */
export interface WindowLimit {
  readonly name: string;
  readonly windowMs: number;
  /** In memory, if all windows are in use, a new key ends the oldest one. @default keys share windows */
  readonly endsOldest?: true;
}

/** Allows `capacity` attempts, then one more every `refillMs`, up to `capacity`. `name` separates limits with equal numbers. */
export interface BucketLimit {
  readonly name: string;
  readonly capacity: number;
  readonly refillMs: number;
}

export type RedisCommand = readonly [script: string, key: string, ...args: number[]];

const windowKey = ({ name, windowMs }: WindowLimit, key: string) =>
  `latchkey:limit:${name}:${windowMs}:${key}`;

const windowCommand =
  (script: string) =>
  (limit: WindowLimit, key: string): RedisCommand => [script, windowKey(limit, key), limit.windowMs];

/**
 * Returns the count and the remaining time of the window. A key that lost its expiry in a failover gets a new expiry. If more time
 * than a whole window remains, the clock of Redis was set back, and a new window starts.
 */
const INCREMENT_SCRIPT = `
local count = redis.call("INCR", KEYS[1])
local remaining = redis.call("PTTL", KEYS[1])
if remaining < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  remaining = tonumber(ARGV[1])
elseif remaining > tonumber(ARGV[1]) then
  redis.call("SET", KEYS[1], 1, "PX", ARGV[1])
  count, remaining = 1, tonumber(ARGV[1])
end
return {count, remaining}`;

export const incrementCommand = windowCommand(INCREMENT_SCRIPT);

/** Keeps the expiry of the key, and does not recreate an expired key. */
const DECREMENT_SCRIPT = `
if tonumber(redis.call("GET", KEYS[1]) or "0") > 0 then redis.call("DECR", KEYS[1]) end`;

export const decrementCommand = (limit: WindowLimit, key: string): RedisCommand => [
  DECREMENT_SCRIPT,
  windowKey(limit, key),
];

/** Ends the window. */
export const clearCommand = (limit: WindowLimit, key: string): RedisCommand => [
  `return redis.call("DEL", KEYS[1])`,
  windowKey(limit, key),
];

/** Returns what INCREMENT_SCRIPT would return, without the increment. */
const READ_SCRIPT = `
local remaining = redis.call("PTTL", KEYS[1])
if remaining > tonumber(ARGV[1]) then return {0, 0} end
if remaining < 0 then remaining = tonumber(ARGV[1]) end
return {tonumber(redis.call("GET", KEYS[1]) or "0"), remaining}`;

/** Changes nothing. */
export const readWindowCommand = windowCommand(READ_SCRIPT);

/**
 * Returns the time until the next attempt. If it is 0, deducts one, unless the attempts to deduct (the last argument) are 0. A
 * page is a Redis string that contains cells as 48-bit times. A page expires when all its cells are full
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
if ARGV[5] == "0" then return 0 end
redis.call("BITFIELD", KEYS[1], "SET", "u48", one, math.max(cells[1], full_at))
redis.call("BITFIELD", KEYS[1], "SET", "u48", other, math.max(cells[2], full_at))
redis.call("PEXPIRE", KEYS[1], ARGV[4])
return 0`;

/** The first two hexadecimal digits of a key identify the page, so that an operator can find and delete the page of an e-mail. */
const PAGES = 256;
/** Number of cells for all buckets of one limit. */
export const BUCKET_CELLS = 2 ** 21;

/** The two cells of a bucket. */
export function cellsOf(key: string, cells: number): readonly [number, number] {
  const bytes = hash("sha256", key, "buffer");
  return [bytes.readUInt32BE(0) % cells, bytes.readUInt32BE(4) % cells];
}

const bucketCommand = (
  { name, capacity, refillMs }: BucketLimit,
  key: string,
  attempts: 0 | 1,
): RedisCommand => {
  const page = `latchkey:budget:${name}:${key.slice(0, 2)}`;
  return [TAKE_SCRIPT, page, ...cellsOf(key, BUCKET_CELLS / PAGES), refillMs, capacity * refillMs, attempts];
};

export const takeCommand = (limit: BucketLimit, key: string) => bucketCommand(limit, key, 1);
/** Changes nothing. */
export const readBucketCommand = (limit: BucketLimit, key: string) => bucketCommand(limit, key, 0);

/** The arguments of the command `EVAL`. */
export const toEval = ([script, key, ...args]: RedisCommand) => [script, "1", key, ...args.map(String)];
