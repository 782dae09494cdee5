/**
 * Rate limits. Every request counts once against the default quota before any other work; a route with its own quota
 * counts again in `beforeHandle`, so only valid requests count there.
 */
import { Elysia } from "elysia";
import { rateLimit as rateLimitPlugin } from "elysia-rate-limit";
import type { RateLimits } from "../config.ts";
import { requestContext, withoutTrailingSlash } from "../elysia/request-context.ts";
import { skipCookies } from "../elysia/workarounds.ts";
import { errorResponseFor, ServiceError } from "../errors.ts";
import { mapMembers } from "../map-members.ts";
import type { CreateStore, Increment } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";
import { isPreflight } from "./cors.ts";

type Quota = RateLimits[keyof RateLimits];

/** A request counts for its client address, and also for the user if `userId` is given. */
interface Client {
  readonly clientAddress: string;
  readonly userId?: number;
}

type ResponseHeaders = Record<string, string | number>;

type RateLimiter = ReturnType<typeof createRateLimiter>;
export type RateLimiters = Readonly<Record<keyof RateLimits, RateLimiter>>;

/**
 * A client that ignores this many rejections in one window waits for each further one. Otherwise a client that sends as
 * fast as it can occupies the event loop with rejections, at the expense of the hashing threads.
 */
const MAX_PROMPT_REJECTIONS = 1000;
const REJECTION_DELAY_MS = 1000;

/** Quotas with equal values have separate counters. */
export const createRateLimiters = <Name extends string>(
  quotas: Readonly<Record<Name, Quota>>,
  createStore: CreateStore,
) => mapMembers(quotas, (quota, name) => createRateLimiter(name, quota, createStore));

function createRateLimiter(name: string, quota: Quota, createStore: CreateStore) {
  const { limit, windowMs, text } = quota;
  const addresses = createStore({ name, windowMs });
  const users = createStore({ name: `${name}-user`, windowMs });

  const incrementBoth = async (ofAddress: Increment | Promise<Increment>, userId: number) =>
    stricter(await ofAddress, await users.increment(String(userId)), limit);
  /** Counts one request. */
  const increment = ({ clientAddress, userId }: Client): Increment | Promise<Increment> => {
    const ofAddress = addresses.increment(clientKey(clientAddress));
    return userId === undefined ? ofAddress : incrementBoth(ofAddress, userId);
  };
  /** How long the response to a counted request is delayed. */
  const delayMs = ({ count }: Increment): number =>
    count - limit > MAX_PROMPT_REJECTIONS ? REJECTION_DELAY_MS : 0;
  /** Sets `RateLimit-*` on the response to a counted request. @throws TOO_MANY_REQUESTS */
  const check = (counted: Increment, headers: ResponseHeaders): void => {
    const { count, resetsAt } = counted;
    const respondsAt = Date.now() + delayMs(counted);
    const retryAfterSeconds = Math.max(0, Math.ceil((resetsAt - respondsAt) / 1000));
    headers["RateLimit-Limit"] = limit;
    headers["RateLimit-Remaining"] = Math.max(0, limit - count);
    headers["RateLimit-Reset"] = retryAfterSeconds;
    if (count > limit) {
      const properties = { quota: text, retryAfterSeconds, delayMs: delayMs(counted) };
      throw new ServiceError("TOO_MANY_REQUESTS", properties);
    }
  };
  return {
    quota,
    /** Whether `increment` returns no promise for a client without `userId`. */
    isSynchronous: addresses.isSynchronous,
    increment,
    delayMs,
    check,
    /** Counts one request and checks it. @throws TOO_MANY_REQUESTS */
    limit: async (client: Client, headers: ResponseHeaders) => check(await increment(client), headers),
  };
}

/** The higher count; if both are equal or over the limit, the window that ends later. */
function stricter(one: Increment, other: Increment, limit: number): Increment {
  const isTie = one.count === other.count || Math.min(one.count, other.count) > limit;
  const isOne = isTie ? one.resetsAt > other.resetsAt : one.count > other.count;
  return isOne ? one : other;
}

/** Counts in `onRequest`, which precedes every response. Preflights, and GET and HEAD of skipped paths, are not counted. */
export function rateLimit(limiter: RateLimiter | undefined, skipRateLimit: (path: string) => boolean) {
  const middleware = new Elysia({ name: "rate-limit" }).use(requestContext());
  if (!limiter) return middleware;
  const isCounted = (request: Request, path: string): boolean => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    return !(isRead && skipRateLimit(withoutTrailingSlash(path))) && !isPreflight(request);
  };
  // If one hook is asynchronous, no request reaches its route in the turn in which it arrived.
  if (!limiter.isSynchronous) {
    return middleware.onRequest(async (context) => {
      const { clientAddress, entry, request, set } = context;
      if (isCounted(request, entry.path)) await limiter.limit({ clientAddress }, set.headers);
    });
  }
  return middleware.onRequest((context) => {
    const { clientAddress, entry, request, set } = context;
    if (isCounted(request, entry.path))
      limiter.check(synchronous(limiter.increment({ clientAddress })), set.headers);
  });
}

/** Safe because a synchronous store returns no promise. */
const synchronous = (counted: Increment | Promise<Increment>): Increment => counted as Increment;

/** Counts valid requests of the routes registered after it, in `beforeHandle`. */
export function rateLimitRoutes(limiter: RateLimiter | undefined): (app: Elysia) => Elysia {
  if (!limiter) return (app) => app;
  const { limit, windowMs, text } = limiter.quota;
  const { status, body } = errorResponseFor("TOO_MANY_REQUESTS", { quota: text });
  const plugin = rateLimitPlugin({
    duration: windowMs,
    // A function, because two instances with equal numbers are merged into one.
    max: () => limit,
    scoping: "scoped",
    countFailedRequest: true,
    generator: (_request, _server, { clientAddress }: { clientAddress: string }) => clientAddress,
    // The plugin adds the headers.
    errorResponse: Response.json(body, { status }),
    context: {
      init() {},
      async increment(clientAddress) {
        const counted = await limiter.increment({ clientAddress });
        const delayMs = limiter.delayMs(counted);
        if (delayMs > 0) await Bun.sleep(delayMs);
        const { count, resetsAt } = counted;
        return { count, nextReset: new Date(resetsAt), start: resetsAt - windowMs };
      },
      decrement() {},
      reset() {},
      kill() {},
    },
  });
  return (app) => {
    plugin(app);
    skipCookies(app);
    return app;
  };
}
