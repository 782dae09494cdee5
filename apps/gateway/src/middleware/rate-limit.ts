/**
 * Rate limits. Every request counts against the default quota before any other work. An operation with its own quota counts the
 * request again, if the request is valid.
 */
import { Elysia } from "elysia";
import { rateLimit as rateLimitPlugin } from "elysia-rate-limit";
import type { RateLimits } from "../config.ts";
import { type RequestEntry, requestEntry } from "../elysia/request-entry.ts";
import { errorResponseFor, ServiceError } from "../errors.ts";
import { mapMembers } from "../map-members.ts";
import { monotonicNow, secondsUntil } from "../rate-limit/clock.ts";
import type { FixedWindow, Increment } from "../rate-limit/fixed-window.ts";
import { MAX_PROMPT_REJECTIONS, REJECTION_DELAY_MS } from "../rate-limit/limits.ts";
import type { Store } from "../rate-limit/store.ts";
import type { Paths } from "./access-log.ts";
import { clientKey } from "./client-address.ts";

type ResponseHeaders = Record<string, string | number>;

/** A request whose own limit is checked. */
interface CountedRequest {
  readonly clientAddress: string;
  readonly headers: ResponseHeaders;
}

interface LimitedContext extends Pick<CountedRequest, "clientAddress"> {
  readonly request: Request;
  readonly set: { readonly headers: ResponseHeaders };
}

/** Counts the requests of one quota. */
interface RateLimiter {
  readonly quota: RateLimits["default"];
  /** Counts requests by `clientKey`. */
  readonly addresses: FixedWindow;
  /** Returns how long to delay the response to a counted request. */
  delayOf(counted: Increment): number;
  /** Sets `RateLimit-*` on the response to a counted request. @throws TOO_MANY_REQUESTS */
  check(counted: Increment, headers: ResponseHeaders): void;
  /** Counts a request per client address. @throws TOO_MANY_REQUESTS */
  limitAddress(request: CountedRequest): Promise<void>;
  /** Counts a request per client address and per user. @throws TOO_MANY_REQUESTS */
  limitUser(request: CountedRequest, userId?: number): Promise<void>;
}
export type RateLimiters = Readonly<Record<keyof RateLimits, RateLimiter>>;

/** Quotas with equal values have separate counters. */
export const createRateLimiters = (quotas: RateLimits, store: Store): RateLimiters =>
  mapMembers(quotas, (quota, name) => {
    const { limit, windowMs, text } = quota;
    const addresses = store.fixedWindow({ name, windowMs });
    const users = store.fixedWindow({ name: `${name}-user`, windowMs });

    const delayOf = ({ count }: Increment): number =>
      count - limit > MAX_PROMPT_REJECTIONS ? REJECTION_DELAY_MS : 0;
    const check = (counted: Increment, headers: ResponseHeaders): void => {
      const delayMs = delayOf(counted);
      const retryAfterSeconds = secondsUntil(counted.resetsAt - delayMs);
      headers["RateLimit-Limit"] = limit;
      headers["RateLimit-Remaining"] = Math.max(0, limit - counted.count);
      headers["RateLimit-Reset"] = retryAfterSeconds;
      if (counted.count > limit)
        throw new ServiceError("TOO_MANY_REQUESTS", { quota: text, retryAfterSeconds, delayMs });
    };
    /** Returns the increment with the higher count, or with the later `resetsAt` if both counts are equal or over the limit. */
    const stricter = (one: Increment, other: Increment): Increment => {
      const isTie = one.count === other.count || Math.min(one.count, other.count) > limit;
      const isOne = isTie ? one.resetsAt > other.resetsAt : one.count > other.count;
      return isOne ? one : other;
    };
    return {
      quota,
      addresses,
      delayOf,
      check,
      limitAddress: async ({ clientAddress, headers }) =>
        check(await addresses.increment(clientKey(clientAddress)), headers),
      limitUser: async ({ clientAddress, headers }, userId) => {
        const ofAddress = await addresses.increment(clientKey(clientAddress));
        check(stricter(ofAddress, await users.increment(String(userId))), headers);
      },
    };
  });

/**
 * Counts requests in `onRequest`, even requests that are rejected later. Register this plugin after `preflight`, so that preflights
 * are not counted. GET and HEAD requests to skipped paths are not counted.
 */
export function rateLimit(limiter: RateLimiter | undefined, unlimitedPaths: Paths) {
  const middleware = new Elysia({ name: "rate-limit" }).use(requestEntry());
  if (!limiter) return middleware;
  const { addresses, check } = limiter;
  const isCounted = ({ method, matchedPath }: RequestEntry): boolean =>
    (method !== "GET" && method !== "HEAD") || !unlimitedPaths.has(matchedPath);
  // A synchronous store has its own hook, because an asynchronous hook delays every request to a later turn of the event loop.
  if (!addresses.isSynchronous) {
    return middleware.onRequest(async ({ clientAddress, entry, set }) => {
      if (isCounted(entry)) check(await addresses.increment(clientKey(clientAddress)), set.headers);
    });
  }
  return middleware.onRequest(({ clientAddress, entry, set }) => {
    if (isCounted(entry)) check(addresses.increment(clientKey(clientAddress)), set.headers);
  });
}

/**
 * Returns the hook that counts the valid requests of an operation per client address, and rejects those over the limit. The design
 * requires `elysia-rate-limit`: the plugin decides and writes the response, and the store counts. Elysia would parse the cookies of
 * each request, because the hook of the plugin names them, if another function did not call it.
 */
export function addressLimit({ quota, addresses, delayOf }: RateLimiter) {
  const { limit, windowMs, text } = quota;
  const { status, body } = errorResponseFor("TOO_MANY_REQUESTS", { quota: text });
  const ignore = (): void => {};
  const plugin = rateLimitPlugin({
    duration: windowMs,
    max: limit,
    generator: (_request, _server, { clientAddress }: { clientAddress: string }) => clientKey(clientAddress),
    // The plugin adds `RateLimit-*` and `Retry-After`.
    errorResponse: Response.json(body, { status }),
    context: {
      async increment(key) {
        const counted = await addresses.increment(key);
        const delayMs = delayOf(counted);
        if (delayMs > 0) await Bun.sleep(delayMs);
        const { count, resetsAt } = counted;
        // The plugin subtracts the time of the system's clock.
        const nextReset = Date.now() + resetsAt - monotonicNow();
        return { count, nextReset: new Date(nextReset), start: nextReset - windowMs };
      },
      // The store resets counters itself. Requests are never refunded.
      init: ignore,
      decrement: ignore,
      reset: ignore,
      kill: ignore,
    },
  });
  const [hook] = new Elysia().use(plugin).event.beforeHandle ?? [];
  if (!hook) throw new TypeError("elysia-rate-limit has no hook");
  return async ({ clientAddress, request, set }: LimitedContext) =>
    (await hook.fn({ clientAddress, request, set })) as Response | undefined;
}
