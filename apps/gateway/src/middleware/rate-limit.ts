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
import type { Increment } from "../rate-limit/fixed-window.ts";
import { MAX_PROMPT_REJECTIONS, REJECTION_DELAY_MS } from "../rate-limit/limits.ts";
import type { Store } from "../rate-limit/store.ts";
import { clientKey } from "./client-address.ts";

type ResponseHeaders = Record<string, string | number>;

interface UserContext {
  readonly clientAddress: string;
  readonly principal: { readonly user: { readonly id: number } };
  readonly set: { readonly headers: ResponseHeaders };
}

export type RateLimiters = ReturnType<typeof createRateLimiters>;
type RateLimiter = RateLimiters["default"];

/** Quotas with equal values have separate counters. */
export const createRateLimiters = (quotas: RateLimits, store: Store) =>
  mapMembers(quotas, (quota, name) => {
    const { limit, windowMs, text } = quota;
    const addresses = store.fixedWindow({ name, windowMs });
    const users = store.fixedWindow({ name: `${name}-user`, windowMs });

    /** How long the response to a counted request is delayed. */
    const delayOf = ({ count }: Increment): number =>
      count - limit > MAX_PROMPT_REJECTIONS ? REJECTION_DELAY_MS : 0;
    /** Sets `RateLimit-*` on the response to a counted request. @throws TOO_MANY_REQUESTS */
    const check = (counted: Increment, headers: ResponseHeaders): void => {
      const delayMs = delayOf(counted);
      const retryAfterSeconds = Math.max(0, Math.ceil((counted.resetsAt - Date.now() - delayMs) / 1000));
      headers["RateLimit-Limit"] = limit;
      headers["RateLimit-Remaining"] = Math.max(0, limit - counted.count);
      headers["RateLimit-Reset"] = retryAfterSeconds;
      if (counted.count > limit)
        throw new ServiceError("TOO_MANY_REQUESTS", { quota: text, retryAfterSeconds, delayMs });
    };
    /** The higher count; if both are equal or over the limit, the window that ends later. */
    const stricter = (one: Increment, other: Increment): Increment => {
      const isTie = one.count === other.count || Math.min(one.count, other.count) > limit;
      const isOne = isTie ? one.resetsAt > other.resetsAt : one.count > other.count;
      return isOne ? one : other;
    };
    return {
      quota,
      /** Counts the requests of a `clientKey`. */
      addresses,
      delayOf,
      check,
      /** The hook of a route that counts for the client address and for the user. @throws TOO_MANY_REQUESTS */
      limitUser: async ({ clientAddress, principal, set }: UserContext): Promise<void> => {
        const ofAddress = await addresses.increment(clientKey(clientAddress));
        check(stricter(ofAddress, await users.increment(String(principal.user.id))), set.headers);
      },
    };
  });

/**
 * Counts in `onRequest`, which precedes every response, except those to preflights: register it after `preflight`. GET and HEAD of
 * skipped paths are not counted.
 */
export function rateLimit(limiter: RateLimiter | undefined, skipRateLimit: (path: string) => boolean) {
  const middleware = new Elysia({ name: "rate-limit" }).use(requestContext());
  if (!limiter) return middleware;
  const { addresses, check } = limiter;
  const isCounted = ({ method }: Request, path: string): boolean =>
    (method !== "GET" && method !== "HEAD") || !skipRateLimit(withoutTrailingSlash(path));
  // If one hook is asynchronous, no request reaches its route in the turn in which it arrived.
  if (!addresses.isSynchronous) {
    return middleware.onRequest(async ({ clientAddress, entry, request, set }) => {
      if (isCounted(request, entry.path))
        check(await addresses.increment(clientKey(clientAddress)), set.headers);
    });
  }
  return middleware.onRequest(({ clientAddress, entry, request, set }) => {
    if (isCounted(request, entry.path)) check(addresses.increment(clientKey(clientAddress)), set.headers);
  });
}

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
    generator: (_request, _server, { clientAddress }: { clientAddress: string }) => clientKey(clientAddress),
    // The plugin adds the headers.
    errorResponse: Response.json(body, { status }),
    context: {
      init() {},
      async increment(key) {
        const counted = await limiter.addresses.increment(key);
        const delayMs = limiter.delayOf(counted);
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
