/**
 * Rate limits. Every request counts once against the default quota before any other work; a route with its own quota
 * counts again in `beforeHandle`, so only valid requests count there.
 */
import { Elysia } from "elysia";
import type { RateLimits } from "../config/config.ts";
import { TooManyRequests } from "../errors.ts";
import type { CreateStore, Increment } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";
import { isPreflight } from "./cors.ts";
import { type RequestPath, requestContext, withoutTrailingSlash } from "./request-context.ts";

type Quota = RateLimits[keyof RateLimits];

/** A request counts for its client address, and also for the user if `userId` is given. */
interface Client {
  readonly clientAddress: string;
  readonly userId?: number;
}

/** Counts one request and sets `RateLimit-*` on its response. @throws {TooManyRequests} */
export type RateLimiter = (client: Client, headers: Record<string, string | number>) => Promise<void>;
export type RateLimiters = Readonly<Record<keyof RateLimits, RateLimiter>>;

/**
 * A client that ignores this many rejections in one window waits for each further one. Otherwise a client that sends as
 * fast as it can occupies the event loop with rejections, at the expense of the hashing threads.
 */
const MAX_PROMPT_REJECTIONS = 1000;
const REJECTION_DELAY_MS = 1000;

/** Quotas with equal values have separate counters. */
export function createRateLimiters(quotas: RateLimits, createStore: CreateStore): RateLimiters {
  const create = (name: keyof RateLimits) => createRateLimiter(name, quotas[name], createStore);
  return {
    default: create("default"),
    login: create("login"),
    register: create("register"),
    passwordChange: create("passwordChange"),
  };
}

function createRateLimiter(name: string, quota: Quota, createStore: CreateStore): RateLimiter {
  const { limit, windowMs, text } = quota;
  const addresses = createStore({ name, windowMs });
  const users = createStore({ name: `${name}-user`, windowMs });
  return async ({ clientAddress, userId }, headers) => {
    const ofAddress = await addresses.increment(clientKey(clientAddress));
    const { count, resetsAt } =
      userId === undefined ? ofAddress : stricter(ofAddress, await users.increment(String(userId)), limit);
    if (count - limit > MAX_PROMPT_REJECTIONS) await Bun.sleep(REJECTION_DELAY_MS);
    const resetSeconds = Math.max(0, Math.ceil((resetsAt - Date.now()) / 1000));
    headers["RateLimit-Limit"] = limit;
    headers["RateLimit-Remaining"] = Math.max(0, limit - count);
    headers["RateLimit-Reset"] = resetSeconds;
    if (count > limit) throw new TooManyRequests(text, resetSeconds);
  };
}

/** The higher count; if both are equal or over the limit, the window that ends later. */
function stricter(one: Increment, other: Increment, limit: number): Increment {
  const isTie = one.count === other.count || Math.min(one.count, other.count) > limit;
  const isOne = isTie ? one.resetsAt > other.resetsAt : one.count > other.count;
  return isOne ? one : other;
}

/** Counts in `onRequest`, which precedes every response. Preflights are not counted, nor GET and HEAD of paths to skip. */
export function rateLimit(limiter: RateLimiter | undefined, skipRateLimit: (path: string) => boolean) {
  const middleware = new Elysia({ name: "rate-limit" }).use(requestContext());
  if (!limiter) return middleware;
  return middleware.onRequest(async (context) => {
    const { path } = context as typeof context & RequestPath;
    const { clientAddress, request, set } = context;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if ((isRead && skipRateLimit(withoutTrailingSlash(path))) || isPreflight(request)) return;
    await limiter({ clientAddress }, set.headers);
  });
}

/** Counts valid requests of the routes registered after it. */
export function rateLimitRoutes(limiter: RateLimiter | undefined) {
  const middleware = new Elysia().use(requestContext());
  if (!limiter) return middleware;
  return middleware.onBeforeHandle({ as: "scoped" }, ({ clientAddress, set }) =>
    limiter({ clientAddress }, set.headers),
  );
}
