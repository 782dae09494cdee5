/**
 * The store in Redis, which all replicas share. While Redis is unreachable, each replica counts in its own memory. The first
 * command that fails or times out closes the connection. The store then tries in the background to open a new connection.
 */
import { withTimeout } from "@latchkey/database";
import { RedisClient } from "bun";
import { monotonicNow } from "./clock.ts";
import { createFixedWindow, DECREMENT_SCRIPT, INCREMENT_SCRIPT } from "./fixed-window.ts";
import type { Store } from "./store.ts";
import { createTokenBucket, takeCommand } from "./token-bucket.ts";

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly logger: { info(message: string): void; warn(message: string): void };
  /** Maximum time to wait for the first connection. @default 1000 */
  readonly startTimeoutMs?: number;
  /** Timeout of a command. After a timeout, the request is counted in memory. @default 150 */
  readonly commandTimeoutMs?: number;
  /** Milliseconds of a clock that is never set back. @default monotonicNow */
  readonly now?: () => number;
}

export type RedisStore = Awaited<ReturnType<typeof openRedisStore>>;

type Command = readonly [script: string, key: string, ...args: number[]];

/** This timeout can be longer than the timeout of a command, because no request waits for a connection. */
const CONNECT_TIMEOUT_MS = 2000;
/** Each pause between two attempts to connect is twice as long as the previous pause, up to the maximum. */
const FIRST_RETRY_DELAY_MS = 50;
const MAX_RETRY_DELAY_MS = 1000;
/** Redis can accept PING but reject writes, so an attempt to connect runs the same script as a request. */
const CHECK: Command = [INCREMENT_SCRIPT, "latchkey:limit:check", 1000];

/**
 * Resolves when requests are counted in Redis, so that replicas that start together share the limits from the first request.
 * Resolves without a connection after `startTimeoutMs`.
 */
export async function openRedisStore(options: RedisStoreOptions) {
  const { url, logger, startTimeoutMs = 1000, commandTimeoutMs = 150, now = monotonicNow } = options;
  const firstConnection = Promise.withResolvers<void>();
  let client: RedisClient | null = null;
  let retryTimer: Timer | undefined;
  let failures = 0;
  let isClosed = false;

  const connect = async (): Promise<void> => {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_TIMEOUT_MS,
    });
    candidate.onclose = () => disconnect(candidate);
    try {
      await inTime(candidate.connect(), CONNECT_TIMEOUT_MS);
      await inTime(evaluate(candidate, CHECK), CONNECT_TIMEOUT_MS);
    } catch {
      candidate.close();
      retryLater();
      return;
    }
    if (isClosed) return candidate.close();
    client = candidate;
    failures = 0;
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
    if (failures === 0) logger.warn("Redis is unreachable: rate limits are counted in this process");
    const delayMs = Math.min(FIRST_RETRY_DELAY_MS * 2 ** failures, MAX_RETRY_DELAY_MS);
    retryTimer = setTimeout(() => void connect(), delayMs);
    failures += 1;
  };

  /** Runs a script in Redis. Runs `inMemory` instead if there is no connection, or no valid reply in time. */
  const run = <Result>(
    command: Command,
    parse: (...reply: number[]) => Result,
    inMemory: () => Result,
  ): Result | Promise<Result> => {
    const connected = client;
    if (!connected) return inMemory();
    return inTime(evaluate(connected, command), commandTimeoutMs)
      .then((reply) => parse(...reply))
      .catch(() => {
        disconnect(connected);
        return inMemory();
      });
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    clearTimeout(retryTimer);
    if (client) disconnect(client);
  };

  void connect();
  await inTime(firstConnection.promise, startTimeoutMs).catch(ignore);
  return {
    fixedWindow(limit) {
      const fallback = createFixedWindow(limit, now);
      return {
        isSynchronous: false,
        increment(key) {
          const redisKey = `latchkey:limit:${limit.name}:${limit.windowMs}:${key}`;
          const undo = () => run([DECREMENT_SCRIPT, redisKey], ignore, ignore);
          return run(
            [INCREMENT_SCRIPT, redisKey, limit.windowMs],
            (count, remainingMs) => ({ count, resetsAt: now() + remainingMs, undo }),
            () => fallback.increment(key),
          );
        },
      };
    },
    tokenBucket(limit) {
      const fallback = createTokenBucket(limit, now);
      return { take: (key) => run(takeCommand(limit, key), Number, () => fallback.take(key)) };
    },
    /** Whether requests are counted in Redis at the moment. */
    isConnected: () => client !== null,
    close,
    [Symbol.asyncDispose]: close,
  } satisfies Store & Record<PropertyKey, unknown>;
}

const ignore = (): void => {};

const inTime = <Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> =>
  withTimeout(work, timeoutMs, () => new Error("Redis did not respond in time"));

/** Every script replies with numbers. */
async function evaluate(client: RedisClient, [script, key, ...args]: Command): Promise<number[]> {
  const reply = [await client.send("EVAL", [script, "1", key, ...args.map(String)])].flat().map(Number);
  if (reply.some(Number.isNaN)) throw new TypeError("Unexpected reply from Redis");
  return reply;
}
