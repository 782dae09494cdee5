/**
 * RateLimitStore in Redis, shared by all replicas. While Redis is unreachable, each replica counts in its own memory: the
 * first command that fails or times out closes the connection, and attempts in the background open a new one.
 */
import { RedisClient } from "bun";
import type { Logger } from "../observability/logger.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { CreateStore, Increment } from "./store.ts";

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

export interface RedisStore extends AsyncDisposable {
  readonly create: CreateStore;
  /** Whether requests are counted in Redis at the moment. */
  readonly isConnected: () => boolean;
  close(): Promise<void>;
}

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

/** Longer than the timeout of a command, because no request waits for a connection. */
const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_DELAY_MS = 50;

/**
 * Resolves when requests are counted in Redis, so that replicas which start together share their limits from the first
 * request; after `startTimeoutMs` it resolves without a connection.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
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
      await withTimeout(candidate.connect(), CONNECT_TIMEOUT_MS);
      // Redis can accept PING and still reject writes, so the attempt runs the script that requests run.
      await withTimeout(evaluate(candidate, "latchkey:limit:probe", 1000), CONNECT_TIMEOUT_MS);
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

  const create: CreateStore = ({ name, windowMs }) => {
    const fallback = createMemoryStore({ windowMs, now });
    return {
      increment(key) {
        const connected = client;
        if (!connected) return fallback.increment(key);
        const reply = evaluate(connected, `latchkey:limit:${name}:${windowMs}:${key}`, windowMs);
        return withTimeout(reply, commandTimeoutMs)
          .then((value) => parseReply(value, now()))
          .catch(() => {
            disconnect(connected);
            return fallback.increment(key);
          });
      },
      async decrement(key) {
        const connected = client;
        if (!connected) return fallback.decrement(key);
        const args = [DECREMENT_SCRIPT, "1", `latchkey:limit:${name}:${windowMs}:${key}`];
        await withTimeout(connected.send("EVAL", args), commandTimeoutMs).catch(() => disconnect(connected));
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
  await withTimeout(firstConnection.promise, startTimeoutMs).catch(() => {});
  return { create, isConnected: () => client !== null, close, [Symbol.asyncDispose]: close };
}

const evaluate = (client: RedisClient, key: string, windowMs: number): Promise<unknown> =>
  client.send("EVAL", [INCREMENT_SCRIPT, "1", key, String(windowMs)]);

function parseReply(reply: unknown, now: number): Increment {
  const [count, remaining] = Array.isArray(reply) ? reply.map(Number) : [];
  if (count === undefined || remaining === undefined) throw new TypeError("Unexpected reply from Redis");
  return { count, resetsAt: now + remaining };
}

async function withTimeout<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No result within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
