/**
 * The store in Redis, which all replicas share. While Redis cannot be used, each replica counts in its own memory. The first
 * command that fails or times out closes the connection. The store then tries in the background to open a new connection.
 */
import { CliError, EXIT } from "@latchkey/cli";
import { withTimeout } from "@latchkey/database";
import {
  clearCommand,
  decrementCommand,
  incrementCommand,
  type RedisCommand,
  readBucketCommand,
  readWindowCommand,
  takeCommand,
  toEval,
} from "@latchkey/limits";
import { RedisClient } from "bun";
import { monotonicNow } from "./clock.ts";
import { describeRedisFailure } from "./redis-errors.ts";
import { createMemoryStore, type Store } from "./store.ts";

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  readonly logger: { info(message: string): void; warn(message: string): void };
  /** Maximum time to wait for the first connection. @default 1000 */
  readonly startTimeoutMs?: number;
  /** How long a connection must last until the limits are reported as shared. @default 10000 */
  readonly stableMs?: number;
  /** Timeout of a command. After a timeout, the request is counted in memory. @default 150 */
  readonly commandTimeoutMs?: number;
  /** Milliseconds of a clock that is never set back. @default monotonicNow */
  readonly now?: () => number;
}

export interface RedisStore extends Store, AsyncDisposable {
  /** Whether requests are counted in Redis at the moment. */
  isConnected(): boolean;
  /** Whether requests have been counted in Redis for `stableMs`. */
  isShared(): boolean;
  close(): Promise<void>;
}

/** This timeout can be longer than the timeout of a command, because no request waits for a connection. */
const CONNECT_TIMEOUT_MS = 2000;
/** Each pause between two attempts to connect is twice as long as the previous pause, up to the maximum. */
const FIRST_RETRY_DELAY_MS = 50;
const MAX_RETRY_DELAY_MS = 1000;
/** With these policies, Redis evicts the counts that expire next, or none. */
const KEEPING_POLICIES: ReadonlySet<string> = new Set(["volatile-ttl", "noeviction"]);
const CHECKED_KEYS = 16;
/**
 * Redis can accept PING but reject a command, or the keys that another node of a cluster has. So an attempt to connect runs every
 * script of the limits, and one of them with several keys.
 */
const CHECKED_LIMIT = { name: "check", windowMs: 1000, capacity: 1, refillMs: 1 };
const CHECKS: readonly RedisCommand[] = [
  ...Array.from({ length: CHECKED_KEYS }, (_, index) => incrementCommand(CHECKED_LIMIT, String(index))),
  decrementCommand(CHECKED_LIMIT, "0"),
  clearCommand(CHECKED_LIMIT, "0"),
  takeCommand(CHECKED_LIMIT, "0000"),
];

/**
 * Resolves when requests are counted in Redis, so that replicas that start together share the limits from the first request.
 * Resolves without a connection after `startTimeoutMs`.
 * @throws {CliError} with exit code 65 if Redis rejects the user, or a command or key of the limits
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const { url, logger, startTimeoutMs = 1000, commandTimeoutMs = 150, now = monotonicNow } = options;
  const { stableMs = 10_000 } = options;
  const memory = createMemoryStore(now);
  const firstConnection = Promise.withResolvers<void>();
  let client: RedisClient | null = null;
  let retryTimer: Timer | undefined;
  let stableTimer: Timer | undefined;
  let isShared = false;
  /** Failed attempts since the limits were last shared, and the reasons that are logged. */
  let failures = 0;
  const logged = new Set<string>();
  let isClosed = false;

  const connect = async (): Promise<void> => {
    const candidate = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_TIMEOUT_MS,
    });
    candidate.onclose = (error) => disconnect(candidate, error);
    try {
      await inTime(candidate.connect(), CONNECT_TIMEOUT_MS);
      const checks = CHECKS.map((command) => evaluate(candidate, command));
      await inTime(Promise.all(checks), CONNECT_TIMEOUT_MS);
    } catch (error) {
      candidate.close();
      await retryAfter(error);
      return;
    }
    if (isClosed) return candidate.close();
    await warnAboutEviction(candidate);
    client = candidate;
    stableTimer = setTimeout(reportShared, stableMs).unref();
    firstConnection.resolve();
  };

  /** Warns once. Managed servers often refuse the command. */
  const warnAboutEviction = async (candidate: RedisClient): Promise<void> => {
    const memory = await inTime(candidate.send("INFO", ["memory"]), CONNECT_TIMEOUT_MS).catch(() => "");
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(String(memory)) ?? [];
    if (policy === undefined || KEEPING_POLICIES.has(policy) || logged.has(policy)) return;
    logger.warn(
      `Redis has maxmemory-policy ${policy}: under memory pressure it evicts counts, so a limited client can try again; set volatile-ttl`,
    );
    logged.add(policy);
  };

  const reportShared = (): void => {
    isShared = true;
    failures = 0;
    logged.clear();
    logger.info("rate limits are shared through Redis");
  };

  const disconnect = (lost: RedisClient, error?: unknown): void => {
    if (client !== lost) return;
    client = null;
    isShared = false;
    clearTimeout(stableTimer);
    lost.close();
    void retryAfter(error);
  };

  /** Logs each reason once until the limits are shared again. */
  const retryAfter = async (error: unknown): Promise<void> => {
    if (isClosed) return;
    const { reason, isRejection } = await describeRedisFailure(error, url);
    if (isClosed) return;
    if (isRejection) firstConnection.reject(rejectedBy(reason));
    const verb = isRejection ? "rejects rate limits" : "is unreachable";
    if (!logged.has(reason))
      logger.warn(`Redis ${verb} (${reason}): rate limits are counted in this process`);
    logged.add(reason);
    const delayMs = Math.min(FIRST_RETRY_DELAY_MS * 2 ** failures, MAX_RETRY_DELAY_MS);
    retryTimer = setTimeout(() => void connect(), delayMs);
    failures += 1;
  };

  /** Runs a script in Redis. Runs `inMemory` instead if there is no connection, or no valid reply in time. */
  const run = <Result>(
    command: RedisCommand,
    parse: (...reply: number[]) => Result,
    inMemory: () => Result,
  ): Result | Promise<Result> => {
    const connected = client;
    if (!connected) return inMemory();
    return inTime(evaluate(connected, command), commandTimeoutMs)
      .then((reply) => parse(...reply))
      .catch((error) => {
        disconnect(connected, error);
        return inMemory();
      });
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    clearTimeout(stableTimer);
    clearTimeout(retryTimer);
    if (client) disconnect(client);
  };

  void connect();
  await inTime(firstConnection.promise, startTimeoutMs).catch((error) => {
    if (!(error instanceof CliError)) return;
    isClosed = true;
    clearTimeout(retryTimer);
    throw error;
  });
  return {
    fixedWindow(limit) {
      const fallback = memory.fixedWindow(limit);
      return {
        isSynchronous: false,
        increment(key) {
          const undo = () => run(decrementCommand(limit, key), ignore, ignore);
          return run(
            incrementCommand(limit, key),
            (count, remainingMs) => ({ count, resetsAt: now() + remainingMs, undo }),
            () => fallback.increment(key),
          );
        },
        read: (key) =>
          run(
            readWindowCommand(limit, key),
            (count, remainingMs) => ({ count, resetsAt: now() + remainingMs }),
            () => fallback.read(key),
          ),
        clear(key) {
          // What was counted while Redis could not be used would count again in the next outage.
          fallback.clear(key);
          return run(clearCommand(limit, key), ignore, ignore);
        },
      };
    },
    tokenBucket(limit) {
      const fallback = memory.tokenBucket(limit);
      return {
        take: (key) => run(takeCommand(limit, key), Number, () => fallback.take(key)),
        read: (key) => run(readBucketCommand(limit, key), Number, () => fallback.read(key)),
      };
    },
    isConnected: () => client !== null,
    isShared: () => isShared,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const ignore = (): void => {};

const rejectedBy = (reason: string): CliError =>
  new CliError(`REDIS_URL: Redis rejects what rate limits need: ${reason}`, EXIT.dataError);

const inTime = <Value>(work: Promise<Value>, timeoutMs: number): Promise<Value> =>
  withTimeout(work, timeoutMs, () => new Error("Redis did not respond in time"));

async function evaluate(client: RedisClient, command: RedisCommand): Promise<number[]> {
  const reply = [await client.send("EVAL", toEval(command))].flat().map(Number);
  if (reply.some(Number.isNaN)) throw new TypeError("Unexpected reply from Redis");
  return reply;
}
