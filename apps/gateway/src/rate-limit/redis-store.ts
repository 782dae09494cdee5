/**
 * The stores in Redis, shared by all replicas. While Redis is unreachable, each replica counts in its own memory: the
 * first command that fails or times out closes the connection, and attempts in the background open a new one.
 */
import { withTimeout } from "@latchkey/database";
import { RedisClient } from "bun";
import type { Logger } from "../observability/logger.ts";
import { BUDGET_CELLS, cellsOf, createMemoryBudgetStore } from "./memory-budget-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { CreateBudgetStore, CreateStore, Increment } from "./store.ts";

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly logger: Logger;
  /** The longest wait for the first connection. @default 1000 */
  readonly startTimeoutMs?: number;
  /** The longest time one command can take before the request is counted in memory. @default 150 */
  readonly commandTimeoutMs?: number;
  /** The longest pause between two attempts to connect; the first pauses are shorter. @default 1000 */
  readonly maxRetryDelayMs?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

export type RedisStore = Awaited<ReturnType<typeof openRedisStore>>;

/** Increments and reads the remaining time in one step; a key that lost its expiry (in a failover) gets a new one. */
const INCREMENT_SCRIPT = `
local count = redis.call("INCR", KEYS[1])
local remaining = redis.call("PTTL", KEYS[1])
if remaining < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  remaining = tonumber(ARGV[1])
end
return {count, remaining}`;

/** Keeps the expiry. A key that has expired stays absent. */
const DECREMENT_SCRIPT = `
if tonumber(redis.call("GET", KEYS[1]) or "0") > 0 then redis.call("DECR", KEYS[1]) end`;

/**
 * `take` of the store in memory. A page is a string of 48-bit times, and expires when all of its budgets are full again. All
 * pages take about 20 MB: budgets of any number of e-mails leave room for the counters.
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

/** Longer than the timeout of a command, because no request waits for a connection. */
const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_DELAY_MS = 50;

/**
 * Resolves when requests are counted in Redis: replicas that start together share their limits from the first request. After
 * `startTimeoutMs`, it resolves without a connection.
 */
export async function openRedisStore(options: RedisStoreOptions) {
  const { url, logger, startTimeoutMs = 1000, commandTimeoutMs = 150, now = Date.now } = options;
  const { maxRetryDelayMs = 1000 } = options;
  const firstConnection = Promise.withResolvers<void>();
  let client: RedisClient | null = null;
  let retryTimer: Timer | null = null;
  let retryDelayMs = FIRST_RETRY_DELAY_MS;
  let isClosed = false;
  let hasWarned = false;

  const connect = async (): Promise<void> => {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_TIMEOUT_MS,
    });
    candidate.onclose = () => disconnect(candidate);
    try {
      await withTimeout(candidate.connect(), CONNECT_TIMEOUT_MS, createTimeoutError);
      // Redis can accept PING and still reject writes, so the attempt runs the script that requests run.
      const attempt = evaluate(candidate, INCREMENT_SCRIPT, "latchkey:limit:check", 1000);
      await withTimeout(attempt, CONNECT_TIMEOUT_MS, createTimeoutError);
    } catch {
      candidate.close();
      retryLater();
      return;
    }
    if (isClosed) return candidate.close();
    client = candidate;
    hasWarned = false;
    retryDelayMs = FIRST_RETRY_DELAY_MS;
    logger.info("rate limits are shared through Redis");
    firstConnection.resolve();
  };

  const disconnect = (lost: RedisClient): void => {
    if (client !== lost) return;
    client = null;
    lost.close();
    retryLater();
  };

  const retryLater = (): void => {
    if (isClosed) return;
    if (!hasWarned) logger.warn("Redis is unreachable: rate limits are counted in this process");
    hasWarned = true;
    retryTimer = setTimeout(() => void connect(), Math.min(retryDelayMs, maxRetryDelayMs));
    retryDelayMs *= 2;
  };

  /** Runs a script in Redis; without a connection or a valid reply in time, `inMemory` takes its place. */
  const run = <Result>(
    command: Command,
    parse: (reply: unknown) => Result,
    inMemory: () => Result,
  ): Result | Promise<Result> => {
    const connected = client;
    if (!connected) return inMemory();
    return withTimeout(evaluate(connected, ...command), commandTimeoutMs, createTimeoutError)
      .then(parse)
      .catch(() => {
        disconnect(connected);
        return inMemory();
      });
  };

  const create: CreateStore = ({ name, windowMs }) => {
    const fallback = createMemoryStore({ windowMs, now });
    const redisKey = (key: string) => `latchkey:limit:${name}:${windowMs}:${key}`;
    return {
      isSynchronous: false,
      increment(key) {
        const undo = () => run([DECREMENT_SCRIPT, redisKey(key)], ignore, ignore);
        return run(
          [INCREMENT_SCRIPT, redisKey(key), windowMs],
          (reply) => ({ ...parseIncrement(reply, now()), undo }),
          () => fallback.increment(key),
        );
      },
    };
  };

  const createBudgets: CreateBudgetStore = ({ name, attempts, refillMs }) => {
    const fallback = createMemoryBudgetStore({ attempts, refillMs, now });
    return {
      take(key) {
        const page = `latchkey:budget:${name}:${key.slice(0, 2)}`;
        const limits = [refillMs, attempts * refillMs] as const;
        const command: Command = [TAKE_SCRIPT, page, ...cellsOf(key, BUDGET_CELLS / PAGES), ...limits];
        return run(command, parseWait, () => fallback.take(key));
      },
    };
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    if (retryTimer) clearTimeout(retryTimer);
    client?.close();
    client = null;
  };

  void connect();
  await withTimeout(firstConnection.promise, startTimeoutMs, createTimeoutError).catch(() => {});
  return {
    create,
    createBudgets,
    /** Whether requests are counted in Redis at the moment. */
    isConnected: () => client !== null,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const createTimeoutError = () => new Error("Redis did not respond in time");

type Command = readonly [script: string, key: string, ...args: number[]];

const evaluate = (client: RedisClient, ...[script, key, ...args]: Command): Promise<unknown> =>
  client.send("EVAL", [script, "1", key, ...args.map(String)]);

function parseIncrement(reply: unknown, now: number): Omit<Increment, "undo"> {
  const [count, remaining] = Array.isArray(reply) ? reply.map(Number) : [];
  if (count === undefined || remaining === undefined) throw new TypeError("Unexpected reply from Redis");
  return { count, resetsAt: now + remaining };
}

const ignore = (): void => {};

function parseWait(reply: unknown): number {
  if (typeof reply !== "number") throw new TypeError("Unexpected reply from Redis");
  return reply;
}
