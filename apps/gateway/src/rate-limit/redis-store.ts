/**
 * RateLimitStore in Redis, shared by all replicas. While Redis does not answer, each replica counts in its own memory: the
 * first command that fails or takes too long opens the circuit, and a probe in the background closes it again.
 */
import { RedisClient } from "bun";
import type { Logger } from "../observability/logger.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { CreateStore, Increment, RateLimitStore } from "./store.ts";

export interface SharedCountersOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly logger: Logger;
  /** How long one command may take before the request goes on without it. @default 150 */
  readonly timeoutMs?: number;
  /** How long to wait between probes of a Redis that is away. @default 1000 */
  readonly probeIntervalMs?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

export interface SharedCounters extends AsyncDisposable {
  readonly create: CreateStore;
  /** Whether Redis counts at the moment. */
  readonly isShared: () => boolean;
  close(): Promise<void>;
}

/** Counts and reads the window's end in one step; a key that lost its expiry (a failover) gets one again. */
const HIT = `
local count = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
if left < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`;

/** No request waits for a connection, so it may take longer than a command. */
const CONNECT_TIMEOUT_MS = 2000;

/** Connects in the background: a Redis that is away at the start is the same as one that goes away later. */
export function openRedisStore(options: SharedCountersOptions): SharedCounters {
  const { url, logger, timeoutMs = 150, probeIntervalMs = 1000, now = Date.now } = options;
  let client: RedisClient | null = null;
  let probe: Timer | null = null;
  let isClosed = false;
  let hasWarned = false;

  const connect = async (): Promise<void> => {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_TIMEOUT_MS,
    });
    candidate.onclose = () => lose(candidate);
    try {
      await withDeadline(candidate.connect(), CONNECT_TIMEOUT_MS);
      // A Redis that cannot write answers a PING all the same, so the probe is what requests will ask.
      await withDeadline(
        candidate.send("EVAL", [HIT, "1", "latchkey:limit:probe", "1000"]),
        CONNECT_TIMEOUT_MS,
      );
    } catch {
      candidate.close();
      giveUp();
      return;
    }
    if (isClosed) return candidate.close();
    client = candidate;
    hasWarned = false;
    logger.info("limits are shared through Redis");
  };

  const lose = (lost: RedisClient): void => {
    if (client !== lost) return;
    client = null;
    lost.close();
    giveUp();
  };

  const giveUp = (): void => {
    if (isClosed) return;
    if (!hasWarned) logger.warn("limits are counted in this process until Redis answers");
    hasWarned = true;
    probe = setTimeout(() => void connect(), probeIntervalMs);
  };

  const create: CreateStore = ({ name, windowMs }): RateLimitStore => {
    const own = createMemoryStore({ windowMs, now });
    return {
      increment(key) {
        const shared = client;
        if (!shared) return own.increment(key);
        const redisKey = `latchkey:limit:${name}:${windowMs}:${key}`;
        return withDeadline(shared.send("EVAL", [HIT, "1", redisKey, String(windowMs)]), timeoutMs)
          .then((reply) => parseHit(reply, now()))
          .catch(() => {
            lose(shared);
            return own.increment(key);
          });
      },
    };
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    if (probe) clearTimeout(probe);
    client?.close();
    client = null;
  };

  void connect();
  return { create, isShared: () => client !== null, close, [Symbol.asyncDispose]: close };
}

function parseHit(reply: unknown, now: number): Increment {
  const [count, left] = Array.isArray(reply) ? reply.map(Number) : [];
  if (count === undefined || left === undefined) throw new TypeError("Redis answered something else");
  return { count, resetsAt: now + left };
}

async function withDeadline<Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> {
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("The deadline has passed")), timeoutMs);
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
